/** What ids, names and addresses may be, and how names that break the rule are shown. */

export type { Address, ReadAddress, ReadPart } from './address.ts'
export { addressOf, readAddress, readDomain, readLocal } from './address.ts'
export type { NameKind } from './name.ts'
export { blankSigns, looksLike, nameProblem, shownName } from './name.ts'
