/** Tool calls that a model wrote into its text, because its server did not read them as calls. */

/** How the templates of models begin a call: Qwen and Hermes, Llama, Mistral, Anthropic, DeepSeek, Gemma. */
const marks =
  /<tool_call>|<\|tool_call|<function[=_]|<\|python_tag\|>|\[TOOL_CALLS\]|<invoke name=|<｜tool▁call|<start_function_call>/
/** Where JSON begins: the text, a line, or a block of code. */
const opening = /^\s*[[{]|\n[ \t]*[[{]|```\w*\s*[[{]/
const given = /"(?:arguments|parameters|args|input|tool_input|action_input)"\s*:/
const named = /"(?:name|tool|function|action)"\s*:\s*"([^"]{1,64})"/g

/** That much of a text is searched for JSON. */
const mostText = 20_000

/** Whether a text is a call of one of these tools instead of an answer. */
export function holdsToolCall(text: string, tools: readonly { readonly name: string }[]): boolean {
  if (!/[<[{]/.test(text)) return false
  if (marks.test(text)) return true
  const start = text.slice(0, mostText)
  const from = start.search(opening)
  if (from < 0) return false
  const json = start.slice(from)
  if (!given.test(json)) return false
  for (const [, name] of json.matchAll(named)) if (tools.some((tool) => tool.name === name)) return true
  return false
}
