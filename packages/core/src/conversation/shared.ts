/** What a child reads of its caller's document where the edge shares it: everybody's words as attributed text, before its task [C5, C6]. */
import type { ModelMessage } from '../model/message.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { AgentCall, Preface } from './state.ts'

/** The caller's document as its child reads it; null where nothing was said. `scrub` takes out what the child must not see. */
export function prefaceOf(caller: AgentCall, scrub: Scrubber): Preface | null {
  const lines = linesOf(caller)
  if (lines.length === 0) return null
  const text = lines.join('\n\n')
  return { text: scrub === null ? text : scrub(text), opening: null, shown: null }
}

/** Puts the preface before what opens the activation; `at` is where that stands in the view, if no summary has taken it up. */
export function addPreface(view: ModelMessage[], preface: Preface, at: number): void {
  const index = view[at]?.role === 'user' ? at : at - 1
  const opening = view[index]
  if (opening?.role !== 'user') return
  if (preface.opening !== opening) {
    preface.opening = opening
    preface.shown = { role: 'user', content: `${preface.text}\n\n${opening.content}` }
  }
  view[index] = preface.shown as ModelMessage
}

/**
 * What was said in the document so far. Exchanges with other agents are theirs and are left out, and so are the calls of the step
 * that is under way: the child's own task is among them.
 */
function linesOf(caller: AgentCall): string[] {
  const { agent, document, parent } = caller
  const asker = parent?.agent.id ?? 'user'
  const others = new Set(agent.subAgents.map((edge) => edge.agent))
  const lines: string[] = []
  const say = (from: string, to: string, text: string) => {
    if (text !== '') lines.push(`[from @${from} to @${to}] ${plain(text)}`)
  }
  for (let index = Math.max(caller.firstMessage, 0); index < document.messages.length; index += 1) {
    const message = document.messages[index] as ModelMessage
    if (message.role === 'user') say(asker, agent.id, message.content)
    else if (message.role === 'tool') {
      if (!others.has(message.name)) say(message.name, agent.id, message.content)
    } else if (message.role === 'assistant') {
      say(agent.id, asker, message.content)
      if (index === document.messages.length - 1) continue
      for (const call of message.toolCalls ?? []) if (!others.has(call.name)) say(agent.id, call.name, call.arguments)
    }
  }
  return lines
}

/** Nobody speaks as somebody else by writing such a line: one within a text does not begin its line any more. */
function plain(text: string): string {
  return text.replace(/^(?=\[from @)/gm, '\\')
}
