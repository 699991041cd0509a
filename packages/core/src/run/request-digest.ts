/** What a request holds beside its history, as three short digests: who computes the request from the log sees whether code or limits have changed. */
import { hash } from 'node:crypto'
import type { AgentData } from '@witan/protocol'
import type { ModelRequest, ModelTool } from '../model/model.ts'

/** The parts that have a digest, in their order. */
const parts = ['system', 'tools', 'settings'] as const
type DigestedPart = (typeof parts)[number]

/** What was made for an agent last: each of its calls makes the same again. */
interface Known {
  system: { readonly text: string; readonly digest: string }
  tools: { readonly list: readonly ModelTool[]; readonly digest: string }
  readonly settings: Map<string, string>
  /** The last digest, and what it was made of. Every reply keeps its digest, so those of the same request are one text. */
  last: { readonly of: Digested; readonly digest: string } | null
}

/** What the parts of a digest are made of, but for what is the agent's own. */
interface Digested extends Pick<ModelRequest, 'tools' | 'toolChoice' | 'temperature'> {
  readonly system: string
  /** The name of the form that is asked for; absent for none. The agent's own has its id. */
  readonly output: string | undefined
}

const known = new WeakMap<AgentData, Known>()

/** The digests of a request, in order and with dots between. */
export function requestDigest(agent: AgentData, request: ModelRequest): string {
  const { tools, toolChoice, temperature } = request
  const now = {
    system: request.messages[0]?.content ?? '',
    tools,
    toolChoice,
    temperature,
    output: request.output?.name,
  }
  const before = known.get(agent)
  if (before?.last != null && isSame(before.last.of, now)) return before.last.digest
  const of = before ?? { system: nothing, tools: noTools, settings: new Map<string, string>(), last: null }
  if (before === undefined) known.set(agent, of)
  if (of.system.text !== now.system) of.system = { text: now.system, digest: digestOf(now.system) }
  if (!areSame(of.tools.list, tools)) of.tools = { list: tools, digest: digestOf(listed(tools)) }
  const digest = `${of.system.digest}.${of.tools.digest}.${digestOfSettings(of.settings, request)}`
  of.last = { of: now, digest }
  return digest
}

/** Which parts differ between two digests of requests. */
export function changedParts(one: string, other: string): readonly DigestedPart[] {
  const then = one.split('.')
  const now = other.split('.')
  return parts.filter((_, at) => then[at] !== now[at])
}

/** 48 bits: they tell two definitions apart, and are no secret. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 8)
}

const nothing = { text: '', digest: digestOf('') }
const noTools = { list: [], digest: digestOf('[]') }

function isSame(one: Digested, other: Digested): boolean {
  const isSet = one.toolChoice === other.toolChoice && one.temperature === other.temperature
  return isSet && one.output === other.output && one.system === other.system && areSame(one.tools, other.tools)
}

function areSame(list: readonly ModelTool[], other: readonly ModelTool[]): boolean {
  return list === other || (list.length === other.length && list.every((tool, at) => tool === other[at]))
}

function listed(tools: readonly ModelTool[]): string {
  return JSON.stringify(tools.map(({ name, description, parameters }) => [name, description, parameters]))
}

/** A model that asks an agent may choose its temperature: no more settings of an agent are kept than this. */
const mostSettings = 16

/** What is not in the key is the agent's own, and so always the same for it. */
function digestOfSettings(made: Map<string, string>, request: ModelRequest): string {
  const { toolChoice, temperature, reasoningEffort, maxOutputTokens = null, output } = request
  const key = `${toolChoice} ${temperature} ${output?.name ?? ''}`
  const before = made.get(key)
  if (before !== undefined) return before
  const digest = digestOf(JSON.stringify([toolChoice, temperature, reasoningEffort, maxOutputTokens, output]))
  if (made.size >= mostSettings) made.clear()
  made.set(key, digest)
  return digest
}
