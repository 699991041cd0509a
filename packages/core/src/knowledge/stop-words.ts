/**
 * English words that say little in a question. They are left out of queries, never of documents. The list is short: rarity makes common words
 * count little anyway, and a long list loses words such as `before` and `same` that questions are about (`npm run bench:knowledge`).
 */

const list = `
a an and are as at be but by can d do does for from how i if in into is it its ll m me my no not of on or re s so t than that the their
then there these they this to ve was were what when where which while who why will with would you your`

/** As they are written, in lower case; what an apostrophe leaves behind is among them. */
export const stopWords: ReadonlySet<string> = new Set(list.trim().split(/\s+/))
