/** A caller of an agent in words, for people: an entry of an access list, or the names of one that must all hold; and for whom a call is made. */
import type { OutsideCaller } from './caller.ts'

const marks: readonly (readonly [mark: string, words: (rest: string) => string])[] = [
  ['user:', (id) => `the person ${id}`],
  ['role:', (role) => `anybody in the role ${role}`],
  ['key:', (id) => `the API key ${id}`],
  ['@*@', (domain) => `any agent of ${domain}`],
  ['for:', (who) => `acting for ${who}`],
  ['from:', (who) => `in work that began with ${who}`],
]

/** Words for names that must all hold; for none of them, those of everybody in the database. */
export function callerWords(names: readonly string[]): string {
  if (names.length === 0) return 'everybody of this database'
  const isAbout = (name: string) => /^(?:for|from):/.test(name)
  const [who, about] = [names.filter((name) => !isAbout(name)), names.filter(isAbout)]
  return [who, about].flatMap((some) => (some.length === 0 ? [] : [some.map(nameWords).join(' and ')])).join(' ')
}

function nameWords(name: string): string {
  if (name === '@*') return 'any agent with an address'
  if (name === 'anonymous') return 'a caller without a credential'
  const [mark, words] = marks.find(([one]) => name.startsWith(one)) ?? []
  return mark === undefined || words === undefined ? name : words(name.slice(mark.length))
}

/** `for mailto:u@a.example`; where somebody else began it, ` (begun by …)` stands behind. Empty without evidence. */
export function forWhomWords({ onBehalfOf: [first, ...rest] = [] }: OutsideCaller): string {
  if (first === undefined) return ''
  const origin = rest.at(-1)
  return `for ${first}${origin === undefined ? '' : ` (begun by ${origin})`}`
}
