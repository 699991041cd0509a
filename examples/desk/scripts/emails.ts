/** The script of the agent `emails`. */
import { owner, people } from '../world.ts'
import { type Asked, type Block, lines, objectOf, one, playing, type Result, type Steps, type StepsTo } from './play.ts'

interface Line {
  readonly id: string
  readonly from: string
  readonly date: string
  readonly subject: string
  readonly unread: boolean
}

/** How a person says what mails are to be like: the key of the block, and the words. */
const wishes: readonly (readonly [string, RegExp])[] = [
  ['ending', /\bmails? (?:should|shall|are to) (?:end|close) with[: ]+["“]?(.+?)["”]?[.!]?$/i],
  ['beginning', /\bmails? (?:should|shall|are to) (?:begin|start|open) with[: ]+["“]?(.+?)["”]?[.!]?$/i],
  ['ending', /\b(?:sign|end|close) (?:all )?(?:my|the)? ?(?:e-?)?mails? with[: ]+["“]?(.+?)["”]?[.!]?$/i],
  ['ending', /\bsignature is[: ]+["“]?(.+?)["”]?[.!]?$/i],
  ['beginning', /\b(?:begin|start|open) (?:all )?(?:my|the)? ?(?:e-?)?mails? with[: ]+["“]?(.+?)["”]?[.!]?$/i],
]
const writing = /\b(draft|write|send|reply|answer|e-?mail)\b.*?[:“"]\s*([\s\S]+?)["”]?$/i
/** What is said without a colon: `write to anna@example.org that …`. */
const writingThat = /\b(draft|write|send|reply|answer|e-?mail)\b.*? (?:that|saying) (.+)$/i
const cannot = /\b(delete|remove|archive|forward|move|mark)\b/i
const reading =
  /\b(read|open|show|say|says|said|write|wrote|want|wants|attach|attached|send|sent|about what|summari[sz]e)\b/i
const listing = /\b(unread|new|all|inbox|mailbox|outbox|drafts|mails|e-?mails)\b/i
const sendsDraft = /\bsend (it|that|this|the (draft|mail|e-?mail|reply))\b/i

/** Remembers wishes, drafts, sends, reads, and searches. */
export const emailsScript = playing(function* (asked): Steps {
  const { message } = asked
  for (const [key, pattern] of wishes) {
    const text = pattern.exec(message)?.[1]
    if (text !== undefined) return yield* keep(asked, key, text)
  }
  if (/\bhow (do|should) my mails\b|\bdo you remember\b/i.test(message))
    return asked.known.length === 0
      ? 'I remember nothing about your mails.'
      : `Your mails:\n${lines(asked.known, ({ key, text }) => `${key}: ${text}`)}`
  if (writing.test(message) || writingThat.test(message)) return yield* write(asked)
  if (sendsDraft.test(message)) return yield* sendLast(asked)
  if (cannot.test(message)) return 'I can search, read, draft and send mails, and nothing else.'
  if (reading.test(message) && !listing.test(message)) return yield* read(message)
  return yield* search(message)
})

function* keep({ known }: Asked, key: string, text: string): Steps {
  const revision = known.find((block) => block.key === key)?.revision
  let result = yield* one('remember', { key, text, ...(revision === undefined ? {} : { expected_revision: revision }) })
  // This conversation may have written another revision since the line of memory was read: the error names it.
  const present = /expected_revision (\d+)/.exec(result.error ?? '')?.[1]
  if (present !== undefined) result = yield* one('remember', { key, text, expected_revision: Number(present) })
  return result.error === null
    ? `I shall remember: the ${key} of your mails is “${text}”.`
    : `I could not write that down: ${result.error}`
}

function* write(asked: Asked): Steps {
  const { message } = asked
  const [, verb = '', said = ''] = writing.exec(message) ?? writingThat.exec(message) ?? []
  const isReply = /^(reply|answer)$/i.test(verb)
  const to = yield* addressIn(message, isReply)
  if (typeof to === 'string') return to
  const text = [beginning(asked.known, to.name), said.trim(), ending(asked.known)].join('\n\n')
  const subject = to.subject ?? subjectOf(said)
  const mail = { to: [to.address], subject, text, ...(to.id === undefined ? {} : { in_reply_to: to.id }) }
  if (/^send$/i.test(verb)) return sentText(yield* one('send_mail', mail))
  const result = yield* one('draft_mail', mail)
  if (result.error !== null) return `The draft could not be saved: ${result.error}`
  return `Drafted, not sent:\n\nTo: ${to.address}\nSubject: ${subject}\n\n${text}`
}

interface To {
  readonly address: string
  readonly name: string
  readonly id?: string
  readonly subject?: string
}

const nameBehind = /\b(?:to|of|from|with) (?:the (?:last )?(?:mail|message) (?:of|from) )?([A-Z]\w+)/
const addressed = /\b(?:[Ww]rite|[Aa]nswer|[Ee]-?[Mm]ail|[Rr]eply) ([A-Z]\w+)/

/** Whom a mail goes to: an address, a colleague, or who wrote a mail of that name. */
function* addressIn(message: string, isReply: boolean): StepsTo<To | string> {
  const written = /[\w.+-]+@[\w.-]+\w/.exec(message)?.[0]
  const name = (nameBehind.exec(message) ?? addressed.exec(message))?.[1] ?? ''
  const colleague = people.find(({ id }) => id === name.toLowerCase())
  if (!isReply && written !== undefined) return { address: written, name: '' }
  if (!isReply && colleague !== undefined) return { address: colleague.email, name }
  if (name === '' && written === undefined) return 'To whom? Name a colleague, somebody who has written, or an address.'
  const { mails = [] } = objectOf((yield* one('search_mail', { from: written ?? name })).text) as {
    mails?: readonly Line[]
  }
  const [last] = mails
  const address = /<([^>]+)>/.exec(last?.from ?? '')?.[1] ?? last?.from
  if (last === undefined || address === undefined) return `There is no mail from ${name}, and so no address.`
  if (!isReply) return { address, name }
  return { address, name, id: last.id, subject: /^re:/i.test(last.subject) ? last.subject : `Re: ${last.subject}` }
}

function beginning(known: readonly Block[], name: string): string {
  const wish = known.find(({ key }) => key === 'beginning')?.text ?? 'Hello'
  return `${wish.replace(/,$/, '')}${name === '' ? '' : ` ${name}`},`
}

function ending(known: readonly Block[]): string {
  return known.find(({ key }) => key === 'ending')?.text ?? owner.name
}

function subjectOf(text: string): string {
  const sentence =
    text
      .replace(/\s+/g, ' ')
      .trim()
      .split(/[.!?](?: |$)/)[0] ?? ''
  return (sentence.length <= 70 ? sentence : `${sentence.slice(0, 69).replace(/ \S*$/, '')} …`) || 'A question'
}

/** Sends the draft that was made last in this conversation, as it is. */
function* sendLast({ past }: Asked): Steps {
  const made = past.findLastIndex(({ name }) => name === 'draft_mail')
  const draft = past[made]
  if (
    draft === undefined ||
    past.slice(made).some(({ name, result }) => name === 'send_mail' && result.includes('sent_id'))
  )
    return 'There is no draft of this conversation to send.'
  return sentText(yield* one('send_mail', { ...draft.arguments, draft_id: objectOf(draft.result)['draft_id'] }))
}

function sentText({ error, value }: Result): string {
  if (error !== null) return `Not sent: ${error}.`
  return `Sent to ${[(Object(value) as { to?: unknown }).to].flat().join(', ')}.`
}

function* read(message: string): Steps {
  const found = yield* one('search_mail', { ...whose(message), ...topic(message) })
  const { mails = [] } = objectOf(found.text) as { mails?: readonly Line[] }
  const [last] = mails
  if (last === undefined)
    return found.error === null ? 'There is no such mail.' : `The mailbox gave no answer: ${found.error}`
  const result = yield* one('read_mail', { id: last.id })
  if (result.error !== null) return `That mail cannot be read: ${result.error}`
  const { text = '', attachments = [] } = Object(result.value) as {
    text?: string
    attachments?: readonly { name: string }[]
  }
  const files = attachments.length === 0 ? '' : `\n\nAttached: ${attachments.map(({ name }) => name).join(', ')}`
  return `${shown(last)}\n\n${quoted(text)}${files}`
}

function* search(message: string): Steps {
  const unread = /\bunread|new mails?\b/i.test(message) ? { unread: true } : {}
  const box = /\b(outbox|sent)\b/i.test(message)
    ? { box: 'outbox' }
    : /\bdrafts\b/i.test(message)
      ? { box: 'drafts' }
      : {}
  const found = yield* one('search_mail', { ...unread, ...box, ...whose(message), ...topic(message) })
  if (found.error !== null) return `The mailbox gave no answer: ${found.error}`
  const { mails = [], total = 0 } = objectOf(found.text) as { mails?: readonly Line[]; total?: number }
  if (mails.length === 0) return 'There are no such mails.'
  return `${total} ${total === 1 ? 'mail' : 'mails'}:\n${lines(mails, shown)}`
}

function whose(message: string): { from?: string } {
  const name = /\b(?:from|of|by) ([A-Z]\w+)/.exec(message)?.[1] ?? /\b(?:did|does|has) ([A-Z]\w+)/.exec(message)?.[1]
  return name === undefined ? {} : { from: name }
}

function topic(message: string): { words?: string } {
  const words = /\babout (?:the |a )?["“]?([\w-]+)/i.exec(message)?.[1]
  return words === undefined ? {} : { words }
}

function shown({ date, from, subject, unread }: Line): string {
  return `${date.slice(0, 10)} ${from}: “${subject}”${unread ? ' (unread)' : ''}`
}

function quoted(text: string): string {
  return text
    .split('\n')
    .slice(0, 40)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}
