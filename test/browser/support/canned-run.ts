/** What the stub's runs do: a small language of calls, and the run of three levels that waits for an action. */
import type { AnyEvent } from '@witan/protocol'
import { payloads } from './canned-agents.ts'

/** Appends what happens to a conversation's log; `answered` waits for the action of that name. */
export interface Stage {
  readonly runId: string
  readonly put: (event: Partial<AnyEvent> & Pick<AnyEvent, 'type' | 'kind' | 'callId' | 'agentPath'>) => void
  readonly pause: () => Promise<void>
  readonly answered: (action: {
    callId: string
    agentPath: string
    path: string
    name: string
    arguments: Record<string, unknown>
  }) => Promise<unknown>
}

const root = 'company-assistant-agent'

/** Picks the run that a prompt asks for. */
export function runFor(agent: string, prompt: string): (stage: Stage) => Promise<void> {
  if (agent === 'zz-hostile-agent') return hostileRun
  if (prompt.includes('fail')) return failingRun
  if (prompt.includes('rename')) return renamingRun
  return shortRun
}

/** Agent, sub-agent, its sub-agent, and an action that waits. */
async function renamingRun(stage: Stage): Promise<void> {
  const profile = agentCall(stage, 'profile', {
    agentPath: `${root}/employee-profile-agent`,
    parentCallId: stage.runId,
  })
  const info = agentCall(stage, 'info', {
    agentPath: `${root}/employee-profile-agent/user-info-agent`,
    parentCallId: profile.callId,
  })
  const policy = agentCall(stage, 'policy', { agentPath: `${root}/policy-agent`, parentCallId: stage.runId })
  await think(
    stage,
    { callId: stage.runId, agentPath: root },
    'I will have your name changed and look up the rule for it. ',
  )
  profile.start('Change the shown name of the employee to "Anna Bergström", and tell me who the manager is.', {})
  policy.start('Which rule applies to a change of name?', { country: 'France' })
  await think(stage, profile, 'The user record has to change first. ')
  const query = toolCall(stage, 'query', {
    name: 'get-my-record',
    arguments: { fields: ['manager', 'team'] },
    parent: profile,
  })
  query.start(['userId'])
  await stage.pause()
  query.end([{ manager: 'Steven Buchanan', team: 'Sales' }])
  info.start('Change the shown name to "Anna Bergström".', { userId: 'employees/3-A' })
  await think(stage, policy, 'A change of name needs no approval in France; the old name stays in signed contracts.')
  policy.end('A change of name needs no approval in France; the old name stays in signed contracts.')
  await think(stage, info, 'Changing it. ')
  const answer = await stage.answered({
    callId: `${stage.runId}_change`,
    agentPath: info.agentPath,
    path: 'employee-profile-agent/user-info-agent/ChangeUserName',
    name: 'ChangeUserName',
    arguments: { name: 'Anna Bergström', reason: 'marriage' },
  })
  const action = toolCall(stage, 'change', { name: 'ChangeUserName', arguments: {}, parent: info })
  action.end(answer)
  await think(stage, info, 'The name is changed.')
  info.end('The name is changed.')
  await think(stage, profile, 'Done. The manager is Steven Buchanan.')
  profile.end('Done. The manager is Steven Buchanan.')
  const text =
    'Your name is now Anna Bergström.\n\nYour manager is Steven Buchanan (Sales). A change of name needs no approval in France; contracts you have already signed keep the old one.'
  await think(stage, { callId: stage.runId, agentPath: root }, text)
  end(stage, { callId: stage.runId, agentPath: root }, text)
}

async function shortRun(stage: Stage): Promise<void> {
  const text = 'Good morning. I can look up your record, your manager, and the rules of the house.'
  await think(stage, { callId: stage.runId, agentPath: root }, text)
  end(stage, { callId: stage.runId, agentPath: root }, text)
}

async function failingRun(stage: Stage): Promise<void> {
  const profile = agentCall(stage, 'profile', {
    agentPath: `${root}/employee-profile-agent`,
    parentCallId: stage.runId,
  })
  await think(stage, { callId: stage.runId, agentPath: root }, 'Asking. ')
  profile.start('Who is the manager?', {})
  const query = toolCall(stage, 'query', { name: 'get-my-record', arguments: {}, parent: profile })
  query.start(['userId'])
  await stage.pause()
  query.fail('QUERY_TIMEOUT', 'The query "get-my-record" took longer than 5 s on the source "northwind".')
  const detail = 'The model "scripted/northwind" could not be called: connection refused.'
  profile.fail('MODEL_CALL_FAILED', detail)
  stage.put({
    type: 'error',
    kind: 'agent',
    callId: stage.runId,
    agentPath: root,
    content: { code: 'MODEL_CALL_FAILED', detail },
  })
}

async function hostileRun(stage: Stage): Promise<void> {
  const at = { callId: stage.runId, agentPath: 'zz-hostile-agent' }
  const tool = toolCall(stage, 'tool', { name: payloads[0], arguments: { html: payloads }, parent: at })
  tool.start([payloads[2]])
  tool.end({ html: payloads })
  await think(stage, at, payloads.join('\n'))
  end(stage, at, payloads.join('\n'))
}

interface At {
  readonly callId: string
  readonly agentPath: string
}

function agentCall(stage: Stage, name: string, place: { agentPath: string; parentCallId: string }) {
  const at = { callId: `${stage.runId}_${name}`, ...place }
  const fail = (code: string, detail: string) =>
    stage.put({ ...at, type: 'error', kind: 'agent', content: { code, detail } })
  return {
    ...at,
    start: (message: string, parameters: Record<string, unknown>) =>
      stage.put({
        ...at,
        type: 'start',
        kind: 'agent',
        content: { message, parameters, hidden: false, originRunId: null },
      }),
    end: (text: string) => end(stage, at, text),
    fail,
  }
}

function toolCall(stage: Stage, id: string, call: { name: string; arguments: unknown; parent: At }) {
  const at = {
    kind: 'tool' as const,
    callId: `${stage.runId}_${id}`,
    agentPath: call.parent.agentPath,
    parentCallId: call.parent.callId,
  }
  return {
    start: (bound: string[]) =>
      stage.put({ ...at, type: 'start', content: { name: call.name, arguments: call.arguments, bound } }),
    end: (result: unknown) => stage.put({ ...at, type: 'end', content: { result, truncated: false } }),
    fail: (code: string, detail: string) => stage.put({ ...at, type: 'error', content: { code, detail } }),
  }
}

/** One model call: its text in pieces, then its end with what it used. */
async function think(stage: Stage, at: At, text: string): Promise<void> {
  for (const piece of text.match(/\S+\s*/g) ?? []) {
    stage.put({ ...at, type: 'delta', kind: 'agent', content: { text: piece, attempt: 1 } })
    await stage.pause()
  }
  const usage = {
    inputTokens: 180 + text.length * 3,
    outputTokens: text.length,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
  stage.put({
    ...at,
    type: 'end',
    kind: 'model',
    content: { model: 'scripted/northwind', usage, finishReason: 'stop' },
  })
}

function end(stage: Stage, at: At, text: string): void {
  const content = { text, output: null, finishReason: 'stop', usage: null, backgroundTasks: [] }
  stage.put({ ...at, type: 'end', kind: 'agent', content })
}
