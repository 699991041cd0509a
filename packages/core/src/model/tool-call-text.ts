/** Tool calls that a model wrote into its text, because its server did not read them as calls. */

const marks = /<tool_call>|<\|tool_call|<function[=_]|<\|python_tag\|>|\[TOOL_CALLS\]/
/** A text that is JSON from its beginning on, or a block of it, with what a call has. */
const block = /^\s*(?:```\w*\s*)?[[{][\s\S]*"(?:arguments|parameters|args|input)"\s*:/
const named = /"(?:name|tool|function)"\s*:\s*"([^"]{1,64})"/g

/** Whether a text holds a call of one of these tools in place of words. */
export function holdsToolCall(text: string, tools: readonly { readonly name: string }[]): boolean {
  if (!/[<[{]/.test(text)) return false
  if (marks.test(text)) return true
  if (!block.test(text.slice(0, 20_000))) return false
  for (const [, name] of text.slice(0, 20_000).matchAll(named))
    if (tools.some((tool) => tool.name === name)) return true
  return false
}
