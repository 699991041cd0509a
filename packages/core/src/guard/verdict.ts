/** What an agent says that checks a text. */
import { readJson } from '@witan/protocol/schemas'

/** Whether a checking agent allows what it was asked; null for an answer that says neither. */
export function verdictIn(text: string): boolean | null {
  const read = readJson(unfenced(text.trim()))
  if (!read.ok || typeof read.value !== 'object' || read.value === null) return null
  const { allow } = read.value as { readonly allow?: unknown }
  return typeof allow === 'boolean' ? allow : null
}

function unfenced(text: string): string {
  const begin = text.indexOf('\n')
  return text.startsWith('```') && text.endsWith('```') && begin > 0 ? text.slice(begin, -3) : text
}
