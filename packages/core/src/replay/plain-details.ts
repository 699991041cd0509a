/**
 * Logs of earlier versions repeat what a model's server said outside the entries of its errors: in reports, answers and results. A
 * replay reads these as this version writes them, with a title.
 */
import { type Entry, plainDetail, quotesProvider } from '@witan/protocol/entries'

/** The entries of a log, with the title of each provider's error where others than its own entries repeat its detail. */
export function withPlainDetails(entries: readonly Entry[]): readonly Entry[] {
  const titles = new Map<string, string>()
  for (const entry of entries) {
    if (!quotes(entry)) continue
    const title = plainDetail(entry.body)
    let { detail } = entry.body
    // A report is JSON within the JSON of a tool's result.
    for (let depth = 0; depth < 3; depth += 1, detail = JSON.stringify(detail).slice(1, -1)) titles.set(detail, title)
  }
  if (titles.size === 0) return entries
  // The error of a workflow quotes that of its step.
  const details = [...titles.keys()].filter((detail) => detail !== '').sort((one, other) => other.length - one.length)
  const plain = (text: string): string =>
    details.reduce(
      (read, detail) => (read.includes(detail) ? read.replaceAll(detail, titles.get(detail) ?? '') : read),
      text,
    )
  return entries.map((entry) => (quotes(entry) ? entry : { ...entry, body: mapped(entry.body, plain) as never }))
}

function quotes(entry: Entry): entry is Entry & { readonly body: { readonly code: string; readonly detail: string } } {
  return (entry.type === 'error' || entry.type === 'notice') && quotesProvider(entry.body.code)
}

/** The same JSON with each text changed. Where none changes it stays the same object. */
function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  const parts = Object.entries(value).map(([key, one]) => [key, one, mapped(one, change)] as const)
  if (parts.every(([, one, made]) => one === made)) return value
  return Array.isArray(value)
    ? parts.map(([, , made]) => made)
    : Object.fromEntries(parts.map(([key, , made]) => [key, made]))
}
