/** Family D in the background: a task that may see a value says it, in its result, its progress, its words or its failure; does its caller's model read it? */
import { memoryStore } from '@witan/core'
import { call, lastUserMessage, type Rule, toolResults } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { storedEntries } from '../../support/claims.ts'
import { createGate, createStage, settle, until } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

type Parameter = NonNullable<AgentInput['parameters']>[number]

/** How what a task says comes to its caller. */
const carriers = ['follow-up', 'failure', 'result', 'progress', 'words'] as const

/** How the caller declares the value that it may not read; null: not at all. */
const reasons: Readonly<Record<string, Omit<Parameter, 'name'> | null>> = {
  'hidden and forbidden': { sendToModel: false, policy: 'forbidModelGeneration' },
  'secret and hidden': { sendToModel: false, secret: true },
  undeclared: null,
}

interface Case {
  readonly id: string
  readonly carrier: (typeof carriers)[number]
  readonly reason: string
  readonly echo: string
}

/** Plays every case. */
export async function playTaskEchoes(ledger: Ledger): Promise<void> {
  let number = 0
  for (const carrier of carriers)
    for (const reason of Object.keys(reasons))
      for (const [encoding, encode] of Object.entries(encodings)) {
        ledger.begin(`a task echoes ${encoding} in its ${carrier}, ${reason}`)
        const id = `t${++number}`
        await playCase({ id, carrier, reason, echo: `it was ${encode(canary(id))}, I believe` }, ledger)
      }
}

/** The task says it where it is asked; at work it stays until it may go on. */
function childOf({ carrier, echo }: Case, mayGoOn: Promise<void>): Rule {
  return async (request) => {
    const said = lastUserMessage(request)
    const isAsked = said.startsWith('[from ')
    if (!isAsked && (carrier === 'progress' || carrier === 'words')) await mayGoOn
    if (carrier === 'failure') return new Error(echo)
    return carrier === 'follow-up' || carrier === 'result' || isAsked ? echo : 'done'
  }
}

/** The caller starts the task, and then asks it in its carrier's way. */
function rootOf({ carrier }: Case, letGoOn: () => void): Rule {
  let task = ''
  return (request, turn) => {
    const said = lastUserMessage(request)
    if (said.startsWith('[from ')) return 'noted'
    if (said === 'look') return turn === 0 ? call('get_background_sub_agent_result', { task_id: task }) : 'seen'
    if (turn === 0) return call('child', { message: 'go' })
    if (turn > 1) return 'done'
    task = (JSON.parse(toolResults(request)[0] ?? '{}') as { readonly task_id: string }).task_id
    if (carrier === 'progress') return call('fetch_sub_agent_progress', { task_id: task, question: 'How far?' })
    if (carrier !== 'words') return 'done'
    // It goes on once the words are there.
    void settle(50).then(letGoOn)
    return call('message_sub_agent', { task_id: task, message: 'Tell me.', mode: 'send_and_wait' })
  }
}

async function playCase(one: Case, ledger: Ledger): Promise<void> {
  const declared = reasons[one.reason] ?? null
  const gate = createGate()
  const store = memoryStore()
  const stage = createStage({
    agents: [
      {
        id: 'root',
        parameters: declared === null ? [] : [{ name: 'userId', ...declared }],
        subAgents: [{ agent: 'child', blocking: 'never' }],
      },
      { id: 'child', parameters: [{ name: 'userId', secret: one.reason === 'undeclared' }] },
    ],
    // Who is asked about the task's progress plays nobody: it is told to report.
    plays: { root: rootOf(one, gate.open), child: childOf(one, gate.opened), '': () => one.echo },
    options: { store },
  })
  const parameters = { userId: { value: canary(one.id), sendToModel: true } }
  const result = await stage.ask('root', 'go', { id: 'chats/1', parameters })
  gate.open()
  await until(async () => {
    const { activeRunId, tasks } = await stage.runtime.getConversation('chats/1')
    return activeRunId === null && tasks.length === 0
  })
  if (one.carrier === 'result') await stage.run('chats/1', { prompt: 'look' })
  const scan = scannerOf([one.id])
  const read = textOf(stage.seenBy('root'))
  ledger.claim(`the run ends with ${result.status}`, result.status === 'completed')
  ledger.claim('the caller did not read what the task said', read.includes('I believe'))
  ledger.deny('leak', 'model of root', scan(read))
  // The task's own words stand there, too, for the caller who gave the value.
  ledger.deny('leak', 'final result', scan(textOf([result.text, result.output])))
  const ofRoot = (await storedEntries(store, 'chats/1')).filter(({ place }) => place.author === 'root')
  ledger.deny('leak', 'log', scan(textOf(ofRoot.filter(({ kind }) => kind === 'model'))))
  ledger.control('model', scan(textOf(stage.seenBy('child'))).size > 0)
  ledger.deny('leak', 'report', scan(textOf(stage.reports)))
  await stage.runtime.close()
}
