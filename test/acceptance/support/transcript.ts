/** What a model saw, in a short form that a test can write down: one entry a message, arguments parsed, ids resolved. */
import assert from 'node:assert/strict'
import type { JsonSchema, Seen, WireMessage } from './exchange.ts'

type Line =
  | { system: string }
  | { user: string }
  | { assistant: string; calls?: Record<string, unknown>[] }
  | { tool: string; content: string }

/** The messages as lines. A tool message is named by the call that it answers; an unknown id fails the test. */
export function transcript(seen: Seen | undefined): Line[] {
  assert.ok(seen, 'the model was asked')
  const names = new Map<string, string>()
  return seen.body.messages.map((message) => {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name)
    return line(message, names)
  })
}

function line(message: WireMessage, names: Map<string, string>): Line {
  const text = textOf(message)
  if (message.role === 'system') return { system: text }
  if (message.role === 'user') return { user: text }
  if (message.role === 'tool') {
    const name = names.get(message.tool_call_id ?? '')
    assert.ok(name, `a tool message answers a call before it: ${JSON.stringify(message)}`)
    return { tool: name, content: text }
  }
  assert.equal(message.role, 'assistant')
  const calls = message.tool_calls?.map((call) => ({
    [call.function.name]: JSON.parse(call.function.arguments) as unknown,
  }))
  return calls ? { assistant: text, calls } : { assistant: text }
}

function textOf(message: WireMessage): string {
  if (typeof message.content === 'string') return message.content
  return (message.content ?? []).map((part) => part.text ?? '').join('')
}

/** All but the system message. */
export function spoken(seen: Seen | undefined): Line[] {
  return transcript(seen).filter((entry) => !('system' in entry))
}

/** The contents of the tool messages, in order. */
export function toolContents(seen: Seen | undefined): string[] {
  return transcript(seen).flatMap((entry) => ('tool' in entry ? [entry.content] : []))
}

/** The system text must be the instructions and then exactly these parameter lines, in any order. */
export function assertSystem(seen: Seen | undefined, instructions: string, lines: string[]): void {
  const [first, ...others] = transcript(seen)
  assert.ok(first && 'system' in first, 'the first message is the system message')
  assert.equal(
    others.some((entry) => 'system' in entry),
    false,
    'there is one system message',
  )
  assert.equal(first.system.slice(0, instructions.length), instructions)
  const rest = first.system
    .slice(instructions.length)
    .split('\n')
    .filter((text) => text !== '')
  assert.deepEqual(rest.sort(), [...lines].sort())
}

interface OfferedTool {
  name: string
  properties: string[]
  required: string[]
}

/** The tools that a request offered: names and schema properties, sorted. */
export function offered(seen: Seen | undefined): OfferedTool[] {
  assert.ok(seen, 'the model was asked')
  return (seen.body.tools ?? [])
    .map(({ type, function: tool }) => {
      assert.equal(type, 'function')
      const schema: JsonSchema = tool.parameters ?? {}
      return {
        name: tool.name,
        properties: Object.keys(schema.properties ?? {}).sort(),
        required: [...(schema.required ?? [])].sort(),
      }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function offeredNames(seen: Seen | undefined): string[] {
  return offered(seen).map((tool) => tool.name)
}

/** A request whose tools are off: none listed, or the choice is `none`. */
export function toolsAreOff(seen: Seen | undefined): boolean {
  return (seen?.body.tools ?? []).length === 0 || seen?.body.tool_choice === 'none'
}

/** Roles alternate strictly after the system message, and tool messages answer the calls before them in call order. */
export function assertAlternates(messages: WireMessage[]): void {
  const roles = messages.map((message) => message.role).join(' ')
  assert.doesNotMatch(
    roles,
    /assistant assistant|user user|(user|system) tool|tool user|system assistant|. system|assistant$/,
    roles,
  )
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      assert.equal(message.tool_call_id, open.shift(), 'results stand in call order')
    } else {
      assert.deepEqual(open, [], 'every call is answered before the next message')
      open = (message.tool_calls ?? []).map((call) => call.id)
    }
  }
  assert.deepEqual(open, [], 'every call is answered')
}
