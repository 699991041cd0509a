/** Attributions in text for models: the runtime writes them, and escapes lines that only look like one [C6]. */

/** A text with its author and addressee in front. */
export function attributed(from: string, to: string, text: string): string {
  return `[from @${from} to @${to}] ${markForeign(text)}`
}

/**
 * Text of a person, model, tool or remote, escaped for models: a `\` is put before each line that begins like an attribution, so
 * that no text can pretend another author [E85]. Escaping twice changes nothing.
 */
export function markForeign(text: string): string {
  return text.includes('[from @') ? text.replace(/^(?=\[from @)/gm, '\\') : text
}
