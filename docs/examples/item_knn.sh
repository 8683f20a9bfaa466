#!/bin/sh
# Score labels by their similarity to the known labels of an image, in awk: sh item_knn.sh PROBLEM SCORES SHRINKAGE
#
# PROBLEM is the folder that `vsebench export` writes, SCORES the file to write (.csv: image, label, score). Two labels
# a and b, which n_a and n_b images have and n_ab both, have the similarity n_ab / (sqrt(n_a n_b) + SHRINKAGE); the score
# of b for an image is the sum over the known labels a of the image (Deshpande and Karypis, ACM TOIS 2004). An image
# without a known label has the frequencies of the labels as its scores.
set -eu

awk -v shrinkage="$3" '
    # Split a line of a CSV file into field[1], field[2], ...; a quoted field keeps its quotation marks.
    function split_line(line,    n) {
        sub(/\r$/, "", line)
        for (n = 1; ; n++) {
            match(line, /^("([^"]|"")*"|[^,]*)/)
            field[n] = substr(line, 1, RLENGTH)
            if (RLENGTH == length(line)) return
            line = substr(line, RLENGTH + 2)
        }
    }

    FNR == 1 { file++; next }  # the header

    { split_line($0) }

    file == 1 {  # final.csv: image, label, count
        image = field[1]; label = field[2]
        n = split(labels_of[image], known, "\t")
        for (i = 1; i <= n; i++) {
            if (!((label, known[i]) in together)) {
                neighbours[label] = neighbours[label] "\t" known[i]
                neighbours[known[i]] = neighbours[known[i]] "\t" label
            }
            together[label, known[i]]++
            together[known[i], label]++
        }
        labels_of[image] = n ? labels_of[image] "\t" label : label
        frequency[label]++
    }

    file == 2 && field[5] == "true" {  # images.csv: id, train, valid, final, test
        split("", score)
        n = split(labels_of[field[1]], known, "\t")
        for (i = 1; i <= n; i++) {
            a = known[i]
            m = split(substr(neighbours[a], 2), others, "\t")
            for (j = 1; j <= m; j++) {
                b = others[j]
                score[b] += together[a, b] / (sqrt(frequency[a] * frequency[b]) + shrinkage)
            }
        }
        if (n == 0) for (b in frequency) score[b] = frequency[b]
        # Labels that are not listed are tied behind the others, and each image needs one that is listed.
        for (i = 1; i <= n; i++) if (!(known[i] in score)) score[known[i]] = 0
        for (b in score) printf "%s,%s,%.9g\n", field[1], b, score[b]
    }

    BEGIN { print "image,label,score" }
' "$1/final.csv" "$1/images.csv" > "$2"
