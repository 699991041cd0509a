/** A runtime with agents that play scripts: the few calls that nearly every scenario makes, all through the public door. */
import { createRuntime, type ModelRequest, type Runtime, type RuntimeOptions } from '@witan/core'
import { type Rule, type ScriptedAnswer, scriptedModel, systemText, turns } from '@witan/core/testing'
import type { AgentInput, Document, AnyEvent, Interruption, RunResult } from '@witan/protocol'
import { fakeClock } from './clock.ts'
import { isOfRandomHook } from './random-hooks.ts'

/** What an agent's model says: answers by turn, or a rule. */
export type Play = readonly ScriptedAnswer[] | Rule

export type AgentDraft = Omit<AgentInput, 'model' | 'instructions'> & { readonly instructions?: string }

export interface StageOptions {
  readonly agents: readonly AgentDraft[]
  /** By agent id. */
  readonly plays: Readonly<Record<string, Play>>
  readonly options?: RuntimeOptions
}

export interface Stage {
  readonly runtime: Runtime
  /** Every request that any model got, in order. */
  readonly requests: readonly ModelRequest[]
  /** What the runtime reported as trouble of its own; a test that expects none says so. */
  readonly reports: readonly unknown[]
  /** The requests that the model of one agent got. */
  seenBy(agent: string): readonly ModelRequest[]
  /** Starts a conversation with a prompt and waits for its first result. */
  ask(agent: string, prompt: string, more?: Readonly<Record<string, unknown>>): Promise<RunResult>
  /** One more run of a conversation. */
  run(conversation: string, body: Readonly<Record<string, unknown>>): Promise<RunResult>
  events(
    conversation: string,
    filter?: { readonly verbose?: boolean; readonly call?: string },
  ): Promise<readonly AnyEvent[]>
  document(path: string): Promise<Document>
}

/** An agent that says who it is in its instructions, so that its script is found. */
export function agent(id: string, more: Omit<AgentDraft, 'id' | 'workflow'> = {}) {
  return { id, model: 'play/model', instructions: `You are ${id}.`, ...more }
}

/** An agent with instructions and a model, or a workflow as it is. */
export function written({ id, workflow, ...more }: AgentDraft) {
  return workflow ? { id, workflow, ...more } : agent(id, more)
}

/** The id that `agent` wrote into the instructions. */
export function playerOf(request: ModelRequest): string {
  return /^You are ([a-z0-9-]+)\./.exec(systemText(request))?.[1] ?? ''
}

/** One rule for all agents: each plays its own. */
export function cast(plays: Readonly<Record<string, Play>>): Rule {
  const rules = new Map(
    Object.entries(plays).map(([id, play]): [string, Rule] => [id, typeof play === 'function' ? play : turns(...play)]),
  )
  return (request, turn) => rules.get(playerOf(request))?.(request, turn)
}

/** Makes a stage on a memory store, or whatever the options say. */
export function createStage({ agents, plays, options = {} }: StageOptions): Stage {
  const reports: unknown[] = []
  const model = scriptedModel(cast(plays))
  const runtime = createRuntime({
    clock: fakeClock(),
    models: { 'play/model': model },
    agents: agents.map(written),
    retry: { tries: 1 },
    report: (error) => {
      if (!isOfRandomHook(error)) reports.push(error)
    },
    ...options,
  })
  return {
    runtime,
    requests: model.requests,
    reports,
    seenBy: (id) => model.requests.filter((request) => playerOf(request) === id),
    async ask(id, prompt, more = {}) {
      const opened = await runtime.start({ agent: id, prompt, ...more })
      if (opened.run === null) throw new Error('a start with a prompt gave no run')
      return opened.run.result
    },
    run: async (conversation, body) => (await runtime.run(conversation, body)).result,
    events: (conversation, filter = {}) => allEvents(runtime, conversation, filter),
    document: (path) => runtime.getDocument(path),
  }
}

/** All stored events of a conversation, verbose unless told otherwise. */
export async function allEvents(
  runtime: Pick<Runtime, 'readEvents'>,
  conversation: string,
  filter: { readonly verbose?: boolean; readonly call?: string } = {},
): Promise<readonly AnyEvent[]> {
  const page = await runtime.readEvents(conversation, { verbose: true, limit: 10_000, ...filter })
  if (page.more) throw new Error('more events than a test should make')
  return page.events
}

/** The actions among what waits. */
export function actionsIn(interruptions: readonly Interruption[]): readonly (Interruption & { kind: 'action' })[] {
  return interruptions.flatMap((one) => (one.kind === 'action' ? [one] : []))
}

/** Lets everything that is ready go on, without a wait in real time. */
export async function settle(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Lets things go on until the claim holds; fails after so many rounds. */
export async function until(holds: () => boolean | Promise<boolean>, rounds = 2000): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    if (await holds()) return
    await settle(1)
  }
  throw new Error('did not come about')
}

/** A promise that a test keeps open until it wants. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
