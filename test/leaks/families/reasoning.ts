/** Family R: a model that knows a hidden value all the same reasons about it, in any disguise and in any pieces; who reads that? */
import { memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { storedEntries } from '../../support/claims.ts'
import { createStage, settle, type Stage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { reasoningOf } from '../support/sinks.ts'
import { textOf } from '../support/texts.ts'
import { reasons } from './echo.ts'

interface Case {
  readonly id: string
  readonly reason: string
  readonly encoding: string
  /** How many characters a piece has. */
  readonly size: number
}

/** Stands beside the value where anybody may read it: a place without it would prove nothing. */
const mark = canary('mark')
const sizes = [1, 3, 11, 10_000] as const

/** Plays every case. */
export async function playReasoning(ledger: Ledger): Promise<void> {
  let number = 0
  for (const encoding of Object.keys(encodings))
    for (const size of sizes) {
      for (const reason of Object.keys(reasons)) {
        const one = { id: `r${++number}`, reason, encoding, size }
        ledger.begin(`a model reasons ${encoding} in pieces of ${size}, ${reason}`)
        await playHidden(one, ledger)
      }
      const later = { id: `r${++number}`, reason: 'hidden later', encoding, size }
      ledger.begin(`a model reasons ${encoding} in pieces of ${size}, hidden later`)
      await playHiddenLater(later, ledger)
    }
}

/** The value amid other text, cut into pieces. */
function reasoningFor({ id, encoding, size }: Case): string[] {
  const text = `${mark} it was ${encodings[encoding]?.(canary(id)) ?? ''}, I believe ${mark}`
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}

function staged(one: Case) {
  const reasoning = reasoningFor(one)
  const store = memoryStore()
  const parameters = [{ name: 'userId', ...reasons[one.reason] }]
  const stage = createStage({
    agents: [
      {
        id: 'root',
        showReasoning: true,
        parameters,
        subAgents: [{ agent: 'child', history: 'shared', collect: 'all' }],
      },
      { id: 'child', showReasoning: true, parameters },
    ],
    plays: {
      root: [
        { ...call('child', { message: 'go' }), reasoning },
        { text: 'done', reasoning },
      ],
      child: () => ({ text: 'ok', reasoning }),
    },
    options: { store },
  })
  return { stage, store }
}

async function playHidden(one: Case, ledger: Ledger): Promise<void> {
  const { stage, store } = staged(one)
  const sendToModel = one.reason !== 'forbidden, hidden by the caller'
  await stage.runtime.start({
    agent: 'root',
    id: 'chats/1',
    parameters: { userId: { value: canary(one.id), sendToModel } },
  })
  const { live, final } = await followed(stage)
  const [scan, marks] = [scannerOf([one.id]), scannerOf(['mark'])]
  for (const [agent, text] of reasoningOf(live)) {
    ledger.control(`reasoning deltas of ${agent}, the mark`, marks(text).size > 0)
    ledger.deny('leak', `reasoning deltas of ${agent}`, scan(text))
  }
  ledger.claim('not every agent reasons', reasoningOf(live).length === 2)
  for (const path of ['chats/1', 'chats/1/child']) {
    const text = textOf(await stage.runtime.getDocument(path, { detail: 'full' }))
    ledger.control(`full document of ${path}, the mark`, marks(text).size > 0)
    ledger.deny('leak', `full document of ${path}`, scan(text))
    ledger.deny('leak', `document of ${path}`, [...scan(textOf(await stage.document(path)))])
  }
  ledger.deny('leak', 'log', scan(textOf(await storedEntries(store, 'chats/1'))))
  judgeRest({ one, stage, final, events: await stage.events('chats/1') }, ledger)
}

/** Its model saw the value then; whoever reads the document now must not. */
async function playHiddenLater(one: Case, ledger: Ledger): Promise<void> {
  const { stage } = staged(one)
  const given = (sendToModel: boolean) => ({ userId: { value: canary(one.id), sendToModel } })
  await stage.runtime.start({ agent: 'root', id: 'chats/1', parameters: given(true) })
  const { final } = await followed(stage)
  const scan = scannerOf([one.id])
  const full = async (path: string) => textOf((await stage.runtime.getDocument(path, { detail: 'full' })).messages)
  ledger.control('full document, before it is hidden', scan(await full('chats/1')).size > 0)
  await stage.runtime.start({ agent: 'root', id: 'chats/1', parameters: given(false) })
  for (const path of ['chats/1', 'chats/1/child']) {
    const text = await full(path)
    ledger.control(`full document of ${path}, the mark`, scannerOf(['mark'])(text).size > 0)
    ledger.deny('leak', `full document of ${path}`, scan(text))
  }
  ledger.deny('leak', 'any model', marksOf(textOf(stage.requests)))
  ledger.claim('the run does not end well', final.status === 'completed')
}

interface Played {
  readonly one: Case
  readonly stage: Stage
  readonly final: unknown
  readonly events: readonly AnyEvent[]
}

/** Nothing that a model reasons reaches a model, an event, a result or a report: not even the mark. */
function judgeRest({ stage, final, events }: Played, ledger: Ledger): void {
  ledger.deny('leak', 'any model', marksOf(textOf(stage.requests)))
  ledger.deny('leak', 'verbose events', marksOf(textOf(events)))
  ledger.deny('leak', 'final result', marksOf(textOf(final)))
  ledger.deny('leak', 'report', marksOf(textOf(stage.reports)))
}

const marksOf = (text: string): Iterable<string> => scannerOf(['mark'])(text)

async function followed(stage: Stage) {
  const live: AnyEvent[] = []
  const stop = new AbortController()
  const read = async () => {
    for await (const event of stage.runtime.followEvents('chats/1', { verbose: true, signal: stop.signal }))
      live.push(event)
  }
  const reading = read()
  await settle(1)
  const final = await stage.run('chats/1', { prompt: 'go' })
  stop.abort()
  await reading
  return { live, final }
}
