/** Reads a Maildir, in the thread apart: lists and searches its mails, and reads one. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime, { type Address, type Email } from 'postal-mime'
import { plainLine, plainText } from './plain.ts'

/** The folders of the mailbox, and where each lies, as in Maildir++. */
export const boxes = { inbox: '.', drafts: '.Drafts', outbox: '.Outbox' } as const

/** The name of a folder of the mailbox. */
export type Box = keyof typeof boxes

/** What to look for. Without `id` it is a search: all that is given must fit. */
export interface MailJob {
  readonly kind: 'mails'
  readonly maildir: string
  readonly box: Box
  /** The mail to read, whole. */
  readonly id?: string
  readonly words?: string
  readonly from?: string
  readonly unread?: boolean
  readonly limit: number
}

/** A mail in a list. */
export interface MailLine {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly date: string
  readonly subject: string
  readonly unread: boolean
}

/** A mail, whole. */
export interface Mail extends MailLine {
  readonly messageId: string
  readonly text: string
  readonly attachments: readonly { readonly name: string; readonly type: string }[]
}

/** What came of it: newest first. `leftOut` names mails that could not be read. */
export interface Found {
  readonly mails: readonly MailLine[]
  readonly total: number
  readonly mail: Mail | null
  readonly leftOut: readonly { readonly id: string; readonly why: string }[]
}

interface Entry {
  readonly id: string
  readonly path: string
  readonly unread: boolean
}

/** How many bytes of a file are read: what stands behind them is attachments. */
const maxBytes = 128 * 1024
const maxFiles = 2_000
const maxTextCharacters = 12_000

/** `begin` is called with the number of each mail before it is read; it is left out if that gives false. */
export async function readMails(job: MailJob, begin: (item: number) => boolean): Promise<Found> {
  const entries = entriesOf(join(job.maildir, boxes[job.box])).filter(({ id }) => job.id === undefined || id === job.id)
  const found: MailLine[] = []
  const leftOut: { id: string; why: string }[] = []
  const leave = (id: string, why: string) => leftOut.length < 20 && leftOut.push({ id, why })
  let [mail, total]: [Mail | null, number] = [null, 0]
  for (const [item, entry] of entries.slice(0, maxFiles).entries()) {
    if (!begin(item)) {
      leave(entry.id, 'takes too long to read')
      continue
    }
    try {
      const whole = toMail(entry, await PostalMime.parse(beginningOf(entry.path), limits))
      if (job.id !== undefined) mail = whole
      if (!fits(whole, job)) continue
      total += 1
      if (found.length < job.limit) found.push(lineOf(whole))
    } catch {
      leave(entry.id, 'cannot be read as a mail')
    }
  }
  return { mails: found, total, mail, leftOut }
}

const limits = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, attachmentEncoding: 'arraybuffer' } as const

/** The mails of a folder, newest first: names begin with the second of their arrival. Only names that a Maildir has are looked at. */
function entriesOf(folder: string): readonly Entry[] {
  const names = (['cur', 'new'] as const).flatMap((part) => listed(join(folder, part)).map((name) => ({ part, name })))
  return names
    .map(({ part, name }) => {
      const [id = '', flags = ''] = name.split(/[:;]2,/)
      return { id, path: join(folder, part, name), unread: !flags.includes('S') }
    })
    .sort((one, other) => (one.id < other.id ? 1 : -1))
}

function listed(folder: string): readonly string[] {
  try {
    const all = readdirSync(folder, { withFileTypes: true })
    return all
      .filter((one) => one.isFile() && /^[A-Za-z0-9._-]{1,120}([:;]2,[A-Z]*)?$/.test(one.name))
      .map(({ name }) => name)
  } catch {
    return []
  }
}

/** The beginning of a file; never one that a link names. */
function beginningOf(path: string): Uint8Array {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const bytes = Buffer.alloc(Math.min(maxBytes, fstatSync(file).size))
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

function toMail({ id, unread }: Entry, email: Email): Mail {
  const date =
    email.date === undefined || Number.isNaN(Date.parse(email.date)) ? '' : new Date(email.date).toISOString()
  return {
    id,
    from: named(email.from === undefined ? [] : [email.from]),
    to: named(email.to ?? []),
    date,
    subject: plainLine(email.subject ?? '(no subject)'),
    unread,
    messageId: plainLine(email.messageId ?? ''),
    text: plainText(email.text ?? textOf(email.html ?? ''), maxTextCharacters),
    attachments: email.attachments.slice(0, 20).map(({ filename, mimeType }) => ({
      name: plainLine(filename ?? '(no name)', 80),
      type: plainLine(mimeType, 80),
    })),
  }
}

function named(addresses: readonly Address[]): string {
  const all = addresses.flatMap((one) => one.group ?? [one])
  const words = all.slice(0, 10).map(({ name, address = '' }) => (name === '' ? address : `${name} <${address}>`))
  return plainLine(words.join(', '), 300)
}

function lineOf({ id, from, to, date, subject, unread }: Mail): MailLine {
  return { id, from, to, date, subject, unread }
}

function fits(mail: Mail, { words = '', from = '', unread }: MailJob): boolean {
  const text = `${mail.subject}\n${mail.from}\n${mail.to}\n${mail.text}`.toLowerCase()
  if (unread !== undefined && mail.unread !== unread) return false
  if (!mail.from.toLowerCase().includes(from.toLowerCase())) return false
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

const unshown = ['script', 'style', 'head']

/** The words of HTML, in one pass. */
function textOf(html: string): string {
  const pieces: string[] = []
  const lower = html.toLowerCase()
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    pieces.push(html.slice(at, open < 0 ? undefined : open))
    if (open < 0) break
    const skipped = unshown.find((name) => lower.startsWith(name, open + 1))
    const end = skipped === undefined ? html.indexOf('>', open) : lower.indexOf(`</${skipped}`, open)
    if (end < 0) break
    pieces.push(/^\/?(p|div|br|li|tr|h\d)\b/.test(lower.slice(open + 1, open + 6)) ? '\n' : ' ')
    at = skipped === undefined ? end + 1 : Math.max(end + 1, html.indexOf('>', end) + 1)
  }
  return pieces
    .join('')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
