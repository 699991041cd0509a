/** `witan usage`: what was used, by agent, conversation, user, model or day. */
import type { Client } from '@witan/client'
import { type UsageDimension, usageDimensions, type UsageItem } from '@witan/protocol/schemas'
import { readCount } from '../arguments.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { print, type Terminal } from '../terminal.ts'
import { count } from '../tree/phrase.ts'

/** The command about usage. */
export const usageCommand: Command = {
  name: 'usage',
  summary: 'Print what was used, and what it cost, by agent, conversation, user, model or day.',
  options: {
    by: { value: 'WHAT', help: `One of ${usageDimensions.join(', ')}; agent unless given.` },
    from: { value: 'DAY', help: 'The first day, such as 2026-11-25 (UTC).' },
    to: { value: 'DAY', help: 'The last day.' },
    limit: { value: 'N', help: 'At most N lines; default 200.' },
    ...jsonOption,
    ...connectionOptions,
  },
  examples: ['witan usage --by day --from 2026-11-01', 'witan usage --by model --json'],
  run: (given, terminal) => connected(given, terminal, list),
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const by = dimensionOf(given)
  const limit = readCount(given, 'limit', 100_000) ?? 200
  const [from, to] = [given.text('from'), given.text('to')]
  const query: Parameters<Client['usage']>[0] = {
    by,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    limit: 200,
  }
  const items: UsageItem[] = []
  let more = false
  for await (const item of client.allUsage(query)) {
    more = items.length === limit
    if (more) break
    items.push(item)
  }
  printList(terminal, given, {
    items,
    columns: [{ title: by.toUpperCase(), tone: 'strong' }, ...titles.map((title) => ({ title, isNumber: true }))],
    cells: (item) => [item.key, ...figuresOf(item)],
    none: 'Nothing was used yet, or not on these days. Every reply of a model counts.',
  })
  if (more) print(terminal, `There is more: --limit ${limit} ends the list here.`, terminal.errors)
}

function dimensionOf(given: Given): UsageDimension {
  const by = given.text('by') ?? 'agent'
  const known = usageDimensions.find((one) => one === by)
  if (known === undefined)
    throw new UsageError(`Usage is not listed by "${by}".`, `One of: ${usageDimensions.join(', ')}.`)
  return known
}

const titles = ['CALLS', 'TOOLS', 'IN', 'OUT', 'COST']

/** A lower bound is marked; a cost that is not known is no number. */
function figuresOf({ modelCalls, toolCalls, inputTokens, outputTokens, costUsd, complete }: UsageItem): string[] {
  const least = complete ? '' : '≥'
  const cost = costUsd === null ? '–' : `${least}$${costUsd.toFixed(4)}`
  return [String(modelCalls), String(toolCalls), least + count(inputTokens), least + count(outputTokens), cost]
}
