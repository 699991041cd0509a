/** What ids and names may be, and how those that break the rule are shown. */

export type { NameKind } from './name.ts'
export { looksLike, nameProblem, shownName } from './name.ts'
