/** `witan audit`: who changed an agent, a protocol or an API key, and when. */
import type { Client } from '@witan/client'
import { type AuditEntry, type AuditKind, auditKinds } from '@witan/protocol/keys'
import { readCount } from '../arguments.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { print, type Terminal } from '../terminal.ts'
import { oneLine } from '../tree/width.ts'

/** The command about the audit. */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'Print who changed an agent, a protocol or a key, and when, the latest first.',
  options: {
    kind: { value: 'KIND', help: `Only changes of one kind: ${auditKinds.join(', ')}.` },
    name: { value: 'NAME', help: 'Only changes of this agent, key, protocol, database or remote.' },
    by: { value: 'PRINCIPAL', help: 'Only changes by this principal, such as user:anna.' },
    limit: { value: 'N', help: 'At most N lines; default 200.' },
    ...jsonOption,
    ...connectionOptions,
  },
  examples: ['witan audit --kind agent --name clerk', 'witan audit --by user:anna --json'],
  run: (given, terminal) => connected(given, terminal, list),
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const limit = readCount(given, 'limit', 100_000) ?? 200
  const [kind, name, by] = [kindOf(given), given.text('name'), given.text('by')]
  const wanted = {
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(by === undefined ? {} : { by }),
  }
  const items: AuditEntry[] = []
  let more = false
  for await (const item of client.allAudit({ ...wanted, limit: 200 })) {
    more = items.length === limit
    if (more) break
    items.push(item)
  }
  printList(terminal, given, {
    items,
    columns: [
      { title: 'WHEN', tone: 'faint' },
      { title: 'WHO', tone: 'strong' },
      { title: 'VIA' },
      { title: 'DID' },
      { title: 'KIND' },
      { title: 'NAME', tone: 'strong' },
      { title: 'REVISION' },
    ],
    cells: (item) => [
      `${item.at.slice(0, 19).replace('T', ' ')}Z`,
      oneLine(item.by),
      item.via,
      item.action,
      item.kind,
      oneLine(item.name),
      revisionsOf(item),
    ],
    none: 'Nothing was changed yet that this asks for.',
  })
  if (more) print(terminal, `There is more: --limit ${limit} ends the list here.`, terminal.errors)
}

function kindOf(given: Given): AuditKind | undefined {
  const text = given.text('kind')
  const kind = auditKinds.find((one) => one === text)
  if (text !== undefined && kind === undefined)
    throw new UsageError(`The audit has no kind "${oneLine(text)}".`, `One of: ${auditKinds.join(', ')}.`)
  return kind
}

function revisionsOf({ before, after }: AuditEntry): string {
  return before === null && after === null ? '' : `${before ?? 'none'} → ${after ?? 'none'}`
}
