"use strict";
(() => {
  const sheet = JSON.parse(document.getElementById("content").textContent);
  const KEPT = "jury-" + sheet.sheet;
  const SAVED = "ratings-" + sheet.juror + ".json";
  const LONGEST = 240; // seconds for an item; what is more was a break
  const at = (id) => document.getElementById(id);
  let state = { place: -1, answers: {} };
  let playing = -1;
  let unsaved = false;
  let kept = true; // whether this browser keeps answers
  let since = 0; // when this item came

  // SHA-256 (FIPS 180-4), because browsers offer theirs only to pages from a server.
  const sha256 = (text) => {
    const bytes = new TextEncoder().encode(text);
    const length = bytes.length;
    const padded = new Uint8Array(((length + 8) >> 6 << 6) + 64);
    padded.set(bytes);
    padded[length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padded.length - 4, length << 3);
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
    const part = (x, power) => { const y = x ** power; return Math.floor((y - Math.floor(y)) * 2 ** 32); };
    const round = primes.map((p) => part(p, 1 / 3));
    let hash = primes.slice(0, 8).map((p) => part(p, 1 / 2));
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    const w = new Int32Array(64);
    for (let start = 0; start < padded.length; start += 64) {
      for (let i = 0; i < 16; i++) w[i] = view.getInt32(start + 4 * i);
      for (let i = 16; i < 64; i++) {
        const a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
      }
      let [a, b, c, d, e, f, g, h] = hash;
      for (let i = 0; i < 64; i++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + round[i] + w[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      hash = [a, b, c, d, e, f, g, h].map((x, i) => (x + hash[i]) | 0);
    }
    return hash.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  };

  const keep = () => {
    unsaved = true;
    at("saved").textContent = "";
    try { localStorage.setItem(KEPT, JSON.stringify(state)); kept = true; } catch { kept = false; }
    at("unkept").hidden = kept;
  };
  const item = () => sheet.items[state.place];
  const answer = () => (state.answers[item().id] ??= { ratings: {}, remark: "", cannot_judge: false });
  const gaps = (one, given) => {
    if (!given) return ["everything"];
    if (given.cannot_judge) return [];
    const open = sheet.criteria.filter((c) => given.ratings[c.name] === undefined).map((c) => c.title);
    return open;
  };
  const isDone = (one) => gaps(one, state.answers[one.id]).length === 0;

  const progress = () => {
    if (item()) at("next").classList.toggle("primary", isDone(item()));
    const done = sheet.items.filter(isDone).length;
    at("bar").value = done;
    const left = state.pace ? Math.ceil(state.pace * (sheet.items.length - done) / 60) : 0;
    at("progress").textContent = done + " of " + sheet.items.length + " done" + (left ? ", about " + left + " min to go" : "");
  };

  const choice = (group, value, label, chosen, change) => {
    const outer = document.createElement("label");
    const input = document.createElement("input");
    input.type = "radio";
    input.name = group;
    input.value = value;
    input.checked = chosen;
    input.addEventListener("change", () => change(value));
    outer.append(input, label);
    return outer;
  };

  const questions = () => [...at("criteria").children];
  const unanswered = () => questions().find((q) => !q.querySelector(":checked"));
  const mark = () => {
    const focused = questions().find((q) => q.contains(document.activeElement));
    const current = focused ?? unanswered();
    for (const one of document.querySelectorAll("fieldset")) one.classList.toggle("current", one === current);
    return current;
  };

  const change = (edit) => {
    edit(answer());
    keep();
    progress();
    at("missing").textContent = "";
  };

  const play = (number) => {
    if (playing === number) return;
    const video = at("video");
    if (video.src) URL.revokeObjectURL(video.src);
    const bytes = Uint8Array.from(atob(at("clip-" + number).textContent.trim()), (c) => c.charCodeAt(0));
    video.src = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
    at("unplayable").hidden = true;
    start();
    playing = number;
  };
  const start = () => at("video").play().catch(() => {}); // where the browser waits for a click, the juror plays it

  const showPass = () => at("pass").setAttribute("aria-pressed", String(answer().cannot_judge));

  const show = () => {
    at("welcome").hidden = true;
    at("end").hidden = state.place < sheet.items.length;
    at("work").hidden = state.place >= sheet.items.length;
    at("missing").textContent = "";
    progress();
    if (state.place >= sheet.items.length) return finish();
    const one = item(), given = answer();
    at("item-title").textContent = "Explanation " + (state.place + 1) + " of " + sheet.items.length + (playing === one.clip ? ", same clip" : ", new clip");
    play(one.clip);
    since = Date.now();
    at("text").textContent = one.text;
    at("image").hidden = !one.image;
    if (one.image) at("image").src = one.image; else at("image").removeAttribute("src");
    at("values").replaceChildren(...one.values.map((value, number) => {
      const row = document.createElement("li"), cell = document.createElement("span"), meter = document.createElement("meter"), target = sheet.targets[number];
      cell.textContent = value.toFixed(2);
      Object.assign(meter, { min: target.low, max: target.high, value });
      meter.setAttribute("aria-label", target.title);
      row.classList.toggle("main", number === sheet.main);
      row.append(target.title, cell, meter);
      return row;
    }));
    at("criteria").replaceChildren(...sheet.criteria.map((criterion) => {
      const field = document.createElement("fieldset"), legend = document.createElement("legend"), hint = document.createElement("span"), row = document.createElement("div"), anchors = document.createElement("p");
      legend.append(criterion.title + " ");
      hint.className = "hint";
      hint.textContent = criterion.question;
      legend.append(hint);
      field.className = "row";
      row.className = "choices";
      for (let value = sheet.lowest; value <= sheet.highest; value++)
        row.append(choice(criterion.name, value, String(value), given.ratings[criterion.name] === value, (chosen) => { change((a) => { a.ratings[criterion.name] = chosen; }); mark(); }));
      anchors.className = "anchors";
      anchors.textContent = criterion.anchors.map((a) => a.value + ": " + a.text).join("; ");
      field.append(legend, row, anchors);
      return field;
    }));
    at("remark").value = given.remark;
    showPass();
    at("item-title").focus();
    mark();
    scrollTo(0, 0);
  };

  const finish = () => {
    const open = sheet.items.map((one, number) => [one, number]).filter(([one]) => !isDone(one));
    at("end-text").textContent = open.length
      ? open.length + " explanations are not finished. You can go back to them:"
      : "Everything is answered. Save the ratings now and send the file to the organisers. Thank you.";
    at("open").replaceChildren(...open.map(([one, number]) => {
      const entry = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = "Explanation " + (number + 1);
      button.addEventListener("click", () => go(number));
      entry.append(button, " " + gaps(one, state.answers[one.id]).join(", "));
      return entry;
    }));
    at("end-title").focus();
  };

  const go = (place) => { state.place = Math.max(0, Math.min(sheet.items.length, place)); keep(); show(); };
  const next = () => {
    const open = gaps(item(), state.answers[item().id]);
    if (open.length) { at("missing").textContent = "Still open: " + open.join(", ") + ". Or choose “I cannot judge this”."; return; }
    const seconds = Math.min(LONGEST, (Date.now() - since) / 1000);
    state.pace = state.pace ? 0.9 * state.pace + 0.1 * seconds : seconds;
    go(state.place + 1);
  };
  const pass = () => { change((a) => { a.cannot_judge = !a.cannot_judge; }); showPass(); };

  // Takes back the last rating that was given, so that one slip of a finger needs no mouse.
  const undo = () => {
    const given = questions().filter((q) => q.querySelector(":checked")).at(-1)?.querySelector(":checked");
    if (!given) return;
    given.checked = false;
    change((a) => { delete a.ratings[given.name]; });
    mark()?.scrollIntoView({ block: "nearest" });
  };

  const save = () => {
    const payload = JSON.stringify({ sheet: sheet.sheet, design: sheet.design, answers: state.answers });
    const file = JSON.stringify({ format_version: 1, sha256: sha256(payload), payload });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([file], { type: "application/json" }));
    link.download = SAVED;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it later
    unsaved = false;
    at("saved").textContent = "Saved as " + SAVED;
    if (sheet.items.every(isDone)) at("end-text").textContent = "Everything is answered and saved as " + SAVED + ". Send this file to the organisers. Thank you.";
  };

  const load = async (file) => {
    try {
      const outer = JSON.parse(await file.text());
      const inner = JSON.parse(outer.payload);
      if (outer.sha256 !== sha256(outer.payload) || inner.sheet !== sheet.sheet || inner.design !== sheet.design) throw new Error("other");
      for (const one of sheet.items) { // the file holds, but nothing that was finished here is lost to an older one
        const theirs = inner.answers[one.id];
        if (theirs && (gaps(one, theirs).length === 0 || !isDone(one))) state.answers[one.id] = theirs;
      }
      const first = sheet.items.findIndex((one) => !isDone(one));
      go(first < 0 ? sheet.items.length : first);
    } catch {
      alert("This file does not contain ratings of this sheet, or it was changed.");
    }
  };

  const digit = (value) => {
    const current = mark();
    if (!current) return;
    const inputs = [...current.querySelectorAll("input")];
    const chosen = inputs.find((input) => Number(input.value) === value);
    if (!chosen) return;
    chosen.checked = true;
    chosen.dispatchEvent(new Event("change"));
    if (current.contains(document.activeElement)) document.activeElement.blur();
    const following = mark();
    if (following) following.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.id === "remark") return;
    const working = !at("work").hidden;
    const key = event.key.toLowerCase();
    const onButton = ["BUTTON", "SUMMARY"].includes(event.target.tagName);
    if (key === "s") save();
    else if (!working) return;
    else if (/^[0-9]$/.test(key)) digit(Number(key));
    else if (key === "enter" && !onButton) next();
    else if (key === "backspace") go(state.place - 1);
    else if (key === "x") pass();
    else if (key === "c") undo();
    else if (key === "p") { if (at("video").paused) start(); else at("video").pause(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("focusin", () => { if (!at("work").hidden) mark(); });
  at("remark").addEventListener("input", () => change((a) => { a.remark = at("remark").value; }));
  at("begin").addEventListener("click", () => go(Math.max(0, state.place)));
  at("next").addEventListener("click", next);
  at("back").addEventListener("click", () => go(state.place - 1));
  at("end-back").addEventListener("click", () => go(sheet.items.length - 1));
  at("pass").addEventListener("click", pass);
  at("video").addEventListener("error", () => { at("unplayable").hidden = false; });
  at("save").addEventListener("click", save);
  at("end-save").addEventListener("click", save);
  at("load").addEventListener("change", () => { if (at("load").files.length) load(at("load").files[0]); at("load").value = ""; });
  addEventListener("beforeunload", (event) => { if (unsaved && (!kept || sheet.items.every(isDone))) event.preventDefault(); });

  try { state = JSON.parse(localStorage.getItem(KEPT)) ?? state; } catch { /* nothing was kept */ }
  try { localStorage.setItem("jury-try", ""); localStorage.removeItem("jury-try"); } catch { kept = false; }
  at("unkept").hidden = kept;
  progress();
  if (state.place >= 0) at("begin").textContent = "Continue where you stopped";
  at("begin").focus({ preventScroll: true });
})();
