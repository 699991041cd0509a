/** A call while a view is built: the same fields as readers see, but writable. */
import type { Event } from '@witan/protocol'
import type { Artifact, Writable } from '@witan/protocol/entries'
import type {
  Asked,
  CallNotice,
  CallView,
  Critique,
  HookUse,
  MemoryUse,
  Retrieval,
  TaskMessage,
} from './conversation-view.ts'
import { text } from './read-value.ts'

/** A call of the view. */
export interface Call extends Writable<CallView> {
  bound: string[]
  readonly notices: CallNotice[]
  readonly taskMessages: TaskMessage[]
  readonly artifacts: Artifact[]
  readonly asked: Writable<Asked>[]
  readonly retrievals: Retrieval[]
  readonly memories: MemoryUse[]
  readonly critiques: Critique[]
  readonly hooks: HookUse[]
  readonly children: string[]
}

/** A call as its first event shows it: a tool without a name, until its start says more. */
export function newCall(event: Event, parentCallId: string | null): Call {
  return {
    callId: event.callId,
    parentCallId,
    rootCallId: event.rootCallId,
    kind: 'tool',
    name: '',
    agentPath: text(event.agentPath),
    document: text(event.document),
    state: 'running',
    task: '',
    text: '',
    reasoned: null,
    arguments: null,
    bound: [],
    parameters: null,
    hiddenParameters: [],
    result: null,
    output: null,
    truncated: false,
    finishReason: null,
    error: null,
    notices: [],
    interruptionId: null,
    asked: [],
    model: null,
    modelCalls: 0,
    tokens: { input: 0, output: 0, complete: true },
    caller: null,
    remote: null,
    hidden: false,
    background: false,
    handedFrom: null,
    returned: false,
    transferToAgent: null,
    isCritic: false,
    guardrail: null,
    step: null,
    branch: text(event.branch) || null,
    taskMessages: [],
    answerSeq: null,
    artifacts: [],
    sources: [],
    retrievals: [],
    memories: [],
    plan: null,
    mcp: [],
    progress: null,
    critiques: [],
    hooks: [],
    startedAt: text(event.at),
    endedAt: null,
    children: [],
    attempt: 0,
    textEnded: false,
  }
}
