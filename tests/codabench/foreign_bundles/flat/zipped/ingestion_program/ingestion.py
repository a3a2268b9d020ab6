# ruff: noqa
# mypy: ignore-errors
import os
import sys
import time

input_dir, output_dir, program_dir, submission_dir = sys.argv[1:5]
sys.path.append(submission_dir)


def main():
    from counter import Counter

    start = time.time()
    jars = [line.split() for line in open(os.path.join(input_dir, "jars.txt"))]
    counter = Counter()
    with open(os.path.join(output_dir, "counts.predict"), "w") as target:
        for name, *weights in jars:
            target.write("%s %d\n" % (name, counter.count([float(weight) for weight in weights])))
    with open(os.path.join(output_dir, "duration.txt"), "w") as target:
        target.write("Duration: %.3f\n" % (time.time() - start))


if __name__ == "__main__":
    main()
