/** `witan resolve`: finds an agent on another server by its address or its card, and prints each step of the way. */
import { localPrincipal } from '@witan/core'
import {
  changedBy,
  createSafeFetch,
  type DiscoveryStep,
  keepKey,
  resolveAddress,
  resolveCard,
} from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import { databaseNamePattern } from '@witan/protocol/keys'
import { cardSchema } from '@witan/protocol/schemas'
import { readAddress } from '@witan/protocol/names'
import { type Command, configOption, type Given, jsonOption } from '../command.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { refuseMemory, withStore } from '../opened-store.ts'
import type { Config } from '@witan/server'
import { print, printJson, printProse, type Terminal } from '../terminal.ts'
import { oneLine } from '../tree/width.ts'

export const resolveCommand: Command = {
  name: 'resolve',
  summary: 'Find an agent on another server by its address or the URL of its card, and print each step.',
  operands: [{ name: '@LOCAL@DOMAIN|URL' }],
  options: {
    trust: {
      help: 'Keep the key that signs its card now in place of the one that is kept. Works on the store itself.',
    },
    db: { value: 'NAME', help: 'The database that keeps it, with --trust. Default: `default`.' },
    ...jsonOption,
    ...configOption,
  },
  examples: [
    'witan resolve @docs@bots.example.com',
    'witan resolve @docs@bots.example.com --trust',
    'witan resolve https://travel.example/card.json',
  ],
  run: resolve,
}

/** The steps in their order, and what each is called. */
const steps = [
  ['webfinger', 'WebFinger'],
  ['card', 'Mentionable card'],
  ['a2a-card', 'A2A card'],
  ['interface', 'interface'],
  ['signature', 'signature'],
] as const
const width = Math.max(...steps.map(([, name]) => name.length))

async function resolve(given: Given, terminal: Terminal): Promise<ExitCode> {
  const { remote, first, find } = remoteIn(given.operands[0] ?? '')
  const config = await readConfig(given, terminal)
  const database = databaseOf(given)
  if (given.has('trust')) refuseMemory(config, 'keep a key in')
  const fetch = createSafeFetch({ resolve: config.federation.resolve })
  const done: DiscoveryStep[] = []
  const isJson = given.has('json')
  const note = (step: DiscoveryStep): void => {
    done.push(step)
    if (!isJson) printStep(terminal, step)
  }
  try {
    const { name, endpoint, signedBy } = await find({ fetch, note })
    const trusted = given.has('trust') ? await trust(config, database, { remote, signedBy }) : null
    const kept = trusted === null ? {} : { trusted }
    if (isJson) printJson(terminal, { ok: true, address: remote, name, endpoint, signedBy, ...kept, steps: done })
    else if (trusted !== null) printLine(terminal, { mark: '✓', tone: 'good', name: 'kept key', text: trusted })
    return exitCodes.done
  } catch (error) {
    if (!isWitanError(error)) throw error
    const { code, message, hint } = error
    const [failed, called] = steps[first + done.length] ?? ['signature', 'signature']
    if (isJson)
      printJson(terminal, {
        ok: false,
        address: remote,
        steps: done,
        failed,
        error: { code, detail: message, hint },
      })
    else {
      printLine(terminal, { mark: '✗', tone: 'bad', name: called, text: `${code}: ${message}` })
      if (hint !== null) printProse(terminal, [{ text: `  → ${oneLine(hint)}`, tone: 'faint' }], { indent: 4 })
    }
    return exitCodes.failed
  }
}

interface Found extends Pick<Awaited<ReturnType<typeof resolveCard>>, 'endpoint' | 'signedBy'> {
  readonly name: string
}

/** What is looked for: its name as a key is kept under it, and the first step of its way. */
interface Wanted {
  readonly remote: string
  readonly first: number
  find(way: Parameters<typeof resolveCard>[1]): Promise<Found>
}

function remoteIn(word: string): Wanted {
  if (/^https?:\/\//i.test(word) && URL.canParse(word)) {
    refuseLong(word)
    const find: Wanted['find'] = async (way) => {
      const { a2aCard, ...found } = await resolveCard(word, way)
      return { ...found, name: typeof a2aCard['name'] === 'string' ? a2aCard['name'] : word }
    }
    return { remote: word, first: steps.findIndex(([id]) => id === 'a2a-card'), find }
  }
  const read = readAddress(word)
  if (read.ok) return { remote: read.address.text, first: 0, find: (way) => resolveAddress(read.address, way) }
  throw new UsageError(
    `"${oneLine(word.slice(0, 200))}" is no address: ${read.problem}.`,
    'Write one such as @docs@bots.example.com, or the URL of a card.',
  )
}

/** A card that no agent can name has no key that is kept. */
function refuseLong(card: string): void {
  const read = cardSchema.safeParse(card)
  if (read.success) return
  const [first] = read.error.issues
  const shown = `${oneLine(card.slice(0, 200))}${card.length > 200 ? '…' : ''}`
  throw new UsageError(`"${shown}" is no card: ${first?.message ?? 'no URL'}.`, 'Write a shorter URL of it.')
}

/** The database of `--db`; a name of another form is refused before anything is asked. */
function databaseOf(given: Given): string {
  const name = given.text('db') ?? 'default'
  if (databaseNamePattern.test(name)) return name
  throw new UsageError(`"${oneLine(name.slice(0, 100))}" is no name of a database.`, 'Write one such as `default`.')
}

/** Keeps the key that stands first among those that have signed a card. */
async function trust(
  config: Config,
  database: string,
  { remote, signedBy }: { readonly remote: string; readonly signedBy: readonly string[] },
): Promise<string> {
  const [thumbprint] = signedBy
  if (thumbprint === undefined) {
    const hint = 'Ask its operator to sign it; without --trust an unsigned card is used as it is.'
    throw new WitanError('REMOTE_CARD_INVALID', `The card of ${remote} is not signed: there is no key to keep.`, {
      hint,
    })
  }
  await withStore(config, 'do this', (store) => {
    const changed = changedBy(localPrincipal, store.now(database))
    return keepKey(store, database, { remote, thumbprint, changed })
  })
  return thumbprint
}

function printStep(terminal: Terminal, { step, url, found }: DiscoveryStep): void {
  const name = steps.find(([id]) => id === step)?.[1] ?? step
  printLine(terminal, { mark: '✓', tone: 'good', name, text: url })
  print(terminal, [
    { text: `  ${' '.repeat(width)}  → `, tone: 'faint' },
    { text: oneLine(found), tone: 'plain' },
  ])
}

interface StepLine {
  readonly mark: string
  readonly tone: 'good' | 'bad'
  readonly name: string
  readonly text: string
}

function printLine(terminal: Terminal, { mark, tone, name, text }: StepLine): void {
  printProse(
    terminal,
    [
      { text: `${mark} `, tone },
      { text: `${name.padEnd(width)}  `, tone: 'strong' },
      { text: oneLine(text), tone: 'plain' },
    ],
    { indent: width + 4 },
  )
}
