/** What the spans of an agent share from run to run: names and attributes, made once and encoded once. */
import { type AgentData, toolNamePattern } from '@witan/protocol'
import type { AgentStartBody, CallPlace } from '@witan/protocol/entries'
import type { AgentLookup } from '../conversation/fold.ts'
import { add, type AttributeList, type Attributes } from './span.ts'

/** The name of a span, and the attributes that it shares with others. */
export interface SpanLabel {
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly shared: Attributes
}

/** What is kept. Who names models and tools may name any number. */
const most = { agents: 500, chats: 8, tools: 50 }

/** What an id of a provider or the name of a model may look like; anything else may be words of a model. */
const idPattern = /^[\w.:/@+~-]{1,200}$/

/** The id, unless it may be more than an id. */
export function plainId(id: string): string | undefined {
  return idPattern.test(id) ? id : undefined
}

/** The labels of the calls of one agent at one place of a tree. */
export class AgentLabels {
  /** Null if the start of the call is unknown. */
  readonly data: AgentData | null
  readonly agent: SpanLabel
  readonly #place: LabelPlace
  readonly #named: { readonly provider: string; readonly model: string } | null
  readonly #chats: { readonly model: string; readonly finishReason: string; readonly label: SpanLabel }[] = []
  readonly #tools = new Map<string, SpanLabel>()

  constructor(place: LabelPlace, start: AgentStartBody | null, data: AgentData | null) {
    this.#place = place
    this.data = data
    this.#named = data === null ? null : providerOf(start?.overrides?.model ?? data.model)
    this.agent = this.#agentLabel(start)
  }

  /** Whether an entry stands at the same place. */
  fits({ agentPath, author }: CallPlace): boolean {
    return agentPath === this.#place.agentPath && author === this.#place.author
  }

  chat(model: string, finishReason: string): SpanLabel {
    for (const one of this.#chats) if (one.model === model && one.finishReason === finishReason) return one.label
    const plain = plainId(model) ?? 'unknown'
    const shared = placed(this.#place, 'CHAT_MODEL', 'chat')
    add(shared, 'gen_ai.provider.name', this.#named?.provider)
    add(shared, 'gen_ai.request.model', this.#named?.model)
    add(shared, 'gen_ai.response.model', plain)
    add(shared, 'gen_ai.response.finish_reasons', [finishReason])
    add(shared, 'gen_ai.agent.id', this.#place.author)
    const label: SpanLabel = { name: `chat ${plain}`, kind: 'client', shared }
    if (this.#chats.length === most.chats) this.#chats.length = 0
    this.#chats.push({ model, finishReason, label })
    return label
  }

  tool(written: string): SpanLabel {
    const known = this.#tools.get(written)
    if (known !== undefined) return known
    const name = toolNamePattern.test(written) ? written : 'unknown'
    const shared = placed(this.#place, 'TOOL', 'execute_tool')
    add(shared, 'gen_ai.tool.name', name)
    add(shared, 'gen_ai.tool.type', 'function')
    add(shared, 'gen_ai.agent.id', this.#place.author)
    const label: SpanLabel = { name: `execute_tool ${name}`, kind: 'internal', shared }
    if (this.#tools.size === most.tools) this.#tools.clear()
    this.#tools.set(written, label)
    return label
  }

  #agentLabel(start: AgentStartBody | null): SpanLabel {
    const id = start?.remote ?? start?.agent ?? this.#place.author
    const isWorkflow = this.data !== null && this.data.workflow !== null
    const operation = isWorkflow ? 'invoke_workflow' : 'invoke_agent'
    const shared = placed(this.#place, isWorkflow ? 'CHAIN' : 'AGENT', operation)
    add(shared, 'gen_ai.agent.id', id)
    add(shared, 'gen_ai.agent.name', id)
    if (start !== null && start.remote === undefined) add(shared, 'gen_ai.agent.version', String(start.revision))
    if (isWorkflow) add(shared, 'gen_ai.workflow.name', id)
    else {
      add(shared, 'gen_ai.provider.name', this.#named?.provider)
      add(shared, 'gen_ai.request.model', this.#named?.model)
    }
    return { name: `${operation} ${id}`, kind: 'internal', shared }
  }
}

interface LabelPlace {
  readonly agentPath: string
  readonly author: string
  readonly branch: string
  /** MLflow has names of its own for the kinds of spans. */
  readonly isForMlflow: boolean
}

/** The labels that were used last, for one exporter. */
export class SpanLabels {
  readonly isForMlflow: boolean
  readonly #known = new Map<string, AgentLabels>()

  constructor(isForMlflow: boolean) {
    this.isForMlflow = isForMlflow
  }

  /** The labels of a call that starts. */
  starting(
    { place, body }: { readonly place: CallPlace; readonly body: AgentStartBody },
    database: string,
    agents: AgentLookup,
  ): AgentLabels {
    const { agent, revision, overrides, remote } = body
    const branch = branchOf(place)
    const key = `${database}\n${place.agentPath}\n${branch}\n${place.author}\n${remote ?? agent}\n${revision}\n${overrides?.model ?? ''}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = new AgentLabels(this.#placeOf(place), body, remote === undefined ? agents(agent, revision) : null)
    if (this.#known.size === most.agents) this.#known.clear()
    this.#known.set(key, made)
    return made
  }

  /** The labels of a place whose call is unknown. */
  at(place: CallPlace): AgentLabels {
    return new AgentLabels(this.#placeOf(place), null, null)
  }

  #placeOf(place: CallPlace): LabelPlace {
    const { agentPath, author } = place
    return { agentPath, author, branch: branchOf(place), isForMlflow: this.isForMlflow }
  }
}

function branchOf({ branches }: CallPlace): string {
  return branches === undefined ? '' : branches.join('/')
}

/** What every span has. */
function placed({ agentPath, branch, isForMlflow }: LabelPlace, type: string, operation: string): AttributeList {
  const shared: AttributeList = ['witan.agent.path', agentPath, 'witan.branch', branch]
  if (isForMlflow) add(shared, 'mlflow.spanType', type)
  add(shared, 'gen_ai.operation.name', operation)
  return shared
}

/** The provider and the model of a name such as `local/qwen3`. */
function providerOf(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf('/')
  return slash < 1
    ? { provider: 'witan', model: name }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}
