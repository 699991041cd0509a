/** The firm that the example is about: who works there, and which day it is. */

/** A person of the firm. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
  /** An IANA time zone: meetings are shown, and working hours counted, in it. */
  readonly zone: string
}

/** The day that is today, a Monday. The data is made around it, so that every answer is the same on every day. */
export const today = '2026-10-19'

/** Whose desk it is, then the colleagues. */
export const people: readonly Person[] = [
  { id: 'nora', name: 'Nora Weiss', email: 'nora@halden.example', zone: 'Europe/Berlin' },
  { id: 'jonas', name: 'Jonas Lind', email: 'jonas@halden.example', zone: 'Europe/Berlin' },
  { id: 'tom', name: 'Tom Reyes', email: 'tom@halden.example', zone: 'America/New_York' },
  { id: 'aiko', name: 'Aiko Mori', email: 'aiko@halden.example', zone: 'Asia/Tokyo' },
]

/** Whose mailbox and calendar it is. */
export const owner: Person = people[0] as Person

/** The account that the person looks after: comes from whoever starts the conversation, and no model reads it or makes it up. */
export const accountId = {
  name: 'accountId',
  type: 'string',
  description: 'The account that the person looks after, such as acct-alpine.',
  sendToModel: false,
  policy: 'forbidModelGeneration',
} as const

/** What agents read about the firm. */
export const setting = `It is Monday, ${today}. You work for ${owner.name} of Halden, which makes pumps.
Colleagues: ${people.map(({ id, name, email, zone }) => `${id} (${name}, ${email}, ${zone})`).join('; ')}.`
