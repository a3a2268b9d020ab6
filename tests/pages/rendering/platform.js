"use strict";
// What Codabench does to a page, told in our own words: today, and on servers of 2024 and before.
const TEX = /\$\$([\s\S]+?)\$\$|\$([^$\n]+?)\$/g;
const FENCE = /```(\w*)\n([\s\S]*?)```/g;
const MEANT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};

// Today: code and formulas are taken out, what is left is Markdown, and then they are put back.
function today(text) {
  const kept = [];
  const keep = (html) => `%%KEPT_${kept.push(html) - 1}%%`;
  const bare = text
    .replace(FENCE, (_, language, code) =>
      keep(`<pre><code class="language-${language}">${code.replace(/[&<>"']/g, (sign) => MEANT[sign])}</code></pre>`))
    .replace(TEX, (_, display, inline) =>
      keep(katex.renderToString(display || inline, {throwOnError: false, displayMode: Boolean(display)})));
  // A text, not a function, is put back: a dollar sign in it has a meaning of its own, as on the platform.
  const html = kept.reduce((page, one, number) => page.replace(`%%KEPT_${number}%%`, one), marked(bare));
  return parsed(html);
}

// Before: the whole page was Markdown, and formulas were looked for in what came out.
function before(text) {
  const body = parsed(marked(text));
  const set = (node) => {
    TEX.lastIndex = 0;
    if (node.nodeType === Node.ELEMENT_NODE && TEX.test(node.textContent)) {
      node.innerHTML = node.innerHTML.replace(TEX, (_, display, inline) =>
        katex.renderToString((display || inline).replace(/&lt;/g, "<").replace(/&gt;/g, ">"), {throwOnError: false}));
    }
    node.childNodes.forEach(set);
  };
  set(body);
  return body;
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

// All pages are in one document, and each node is copied into its place: so a style works everywhere, and a script nowhere.
function show(source) {
  const {pages, way} = JSON.parse(source.textContent);
  pages.forEach((text, number) => {
    const place = document.createElement("section");
    place.id = `page_${number}`;
    ({today, before})[way](text).childNodes.forEach((node) => place.appendChild(node.cloneNode(true)));
    document.querySelector("main").appendChild(place);
  });
}
