/** Family I over the wire: a hidden value stands in no request to another server, and no model reads one that comes back from there. */
import { defineTool } from '@witan/core'
import { call, type Rule, toolResults } from '@witan/core/testing'
import { z } from 'zod'
import { createStage, type Stage, until } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import { createFarServer, type FarServer, type FarStatus } from '../support/far-server.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'
import { reasons } from './echo.ts'

const done = (...parts: object[]): FarStatus => ({ state: 'COMPLETED', artifacts: [{ artifactId: 'a', parts }] })
const question = (text: string): FarStatus => ({ state: 'INPUT_REQUIRED', parts: [{ text }] })
const condition = (message: string): FarStatus => ({
  state: 'INPUT_REQUIRED',
  parts: [{ data: { type: 'policy', state: 's', policy: { kind: 'consent_required', message } } }],
})

/** What the server there says when it gives a value back, and when it ends. */
const echoes: Readonly<Record<string, (echo: string) => readonly FarStatus[]>> = {
  'a text': (echo) => [done({ text: `it was ${echo}` })],
  data: (echo) => [done({ data: { owner: echo, [echo]: 1 } })],
  'the name of a file': (echo) => [
    done({ text: 'a file' }, { raw: 'QUJD', filename: `${echo}.txt`, mediaType: 'text/plain' }),
  ],
  'a failure': (echo) => [{ state: 'FAILED', parts: [{ text: `it broke at ${echo}` }] }],
  'a question': (echo) => [question(`Is it ${echo}?`), done({ text: 'so be it' })],
  'a condition': (echo) => [condition(`Pay ${echo}.`), done({ text: 'so be it' })],
}

interface Case {
  readonly id: string
  readonly reason: string
  readonly rule: Rule
  /** What the tool `look` gives, or throws. */
  readonly look: () => unknown
}

/** Plays a run of `desk` to its end; a person answers what is asked. */
async function played(far: FarServer, { id, reason, rule, look }: Case): Promise<Stage> {
  const tool = defineTool({
    ...{ name: 'look', description: 'Looks.', parameters: z.object({}), effect: 'none' },
    execute: look,
  })
  const stage = createStage({
    agents: [
      {
        id: 'desk',
        parameters: [
          { name: 'userId', type: 'string', ...reasons[reason] },
          { name: 'city', type: 'string' },
        ],
        tools: ['look'],
        remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }],
      },
    ],
    plays: { desk: rule },
    options: {
      ...{ domains: { 'a.test': 'default' }, federation: { resolve: { 'b.test': far.url } }, tools: [tool] },
    },
  })
  const sendToModel = reason !== 'forbidden, hidden by the caller'
  const parameters = { userId: { value: canary(id), sendToModel }, city: { value: canary('open'), sendToModel: true } }
  const { run } = await stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1', parameters })
  const answered = new Set<string>()
  await until(async () => {
    const { runs, interruptions } = await stage.runtime.getConversation('chats/1')
    for (const { id: asked, kind } of interruptions) {
      if (answered.has(asked)) continue
      answered.add(asked)
      const answer = kind === 'policy' ? { resolution: { agreed: true } } : { input: { text: 'the second' } }
      await stage.runtime.answerInterruption(asked, { answer })
    }
    return runs[0]?.status === 'completed' || runs[0]?.status === 'failed'
  }, 20_000)
  await run?.result
  return stage
}

/** The model passes on whatever it has read, with every word of its instructions and of what it was offered. */
const passOn: Rule = (request, turn) => {
  if (turn === 0) return call('look')
  if (turn > 1) return 'done'
  return call('docs', { message: `${textOf(request.messages)}\n${textOf(request.tools)} ${canary('open')}` })
}

let number = 0

async function playOut(far: FarServer, ledger: Ledger): Promise<void> {
  for (const reason of Object.keys(reasons))
    for (const way of ['a result', 'an error'])
      for (const [name, encode] of Object.entries(encodings)) {
        ledger.begin(`a model passes on ${way} with ${name}, ${reason}`)
        const id = `i${++number}`
        const said = `it was ${encode(canary(id))}, I believe`
        const look = () => {
          if (way === 'an error') throw new Error(said)
          return said
        }
        far.play(question('Which shelf?'), condition('Really?'), done({ text: 'It is there.' }))
        const stage = await played(far, { id, reason, rule: passOn, look })
        const seen = far.seen()
        ledger.control('request of what is shown', scannerOf(['open'])(seen).size > 0)
        ledger.control('answer', seen.includes('the second') && seen.includes('agreed'))
        ledger.deny('leak', 'request to another server', scannerOf([id])(seen))
        await stage.runtime.close()
      }
}

async function playBack(far: FarServer, ledger: Ledger): Promise<void> {
  for (const reason of Object.keys(reasons))
    for (const [way, statuses] of Object.entries(echoes))
      for (const [name, encode] of Object.entries(encodings)) {
        ledger.begin(`another server gives ${name} back in ${way}, ${reason}`)
        const id = `j${++number}`
        far.play(...statuses(encode(canary(id))))
        const rule: Rule = (_, turn) => (turn === 0 ? call('docs', { message: canary('open') }) : 'done')
        const stage = await played(far, { id, reason, rule, look: () => '' })
        const [last] = stage.seenBy('desk').slice(-1)
        ledger.control('its answer', last !== undefined && toolResults(last).length > 0)
        ledger.deny('leak', 'model of the caller', scannerOf([id])(textOf(stage.seenBy('desk'))))
        ledger.deny('leak', 'request to another server', scannerOf([id])(far.seen()))
        await stage.runtime.close()
      }
}

/** Plays the family. */
export async function playRemotes(ledger: Ledger): Promise<void> {
  const far = await createFarServer()
  await playOut(far, ledger)
  await playBack(far, ledger)
  await far.close()
}
