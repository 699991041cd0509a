/** What a model reasoned, folded away: one line says how long it took, and opens with a click or a key. */
import type { Reasoned } from '@witan/client'
import { formatElapsed } from '../state/format.ts'
import { useNow } from '../state/use-now.ts'
import { TextBlock } from './json-block.tsx'

/** What a live call's model reasons; renders nothing if there is none. */
export function LiveReasoning({ reasoned }: { readonly reasoned: Reasoned | null }) {
  const now = useNow(reasoned?.since != null, 500)
  if (reasoned === null || reasoned.text === '') return null
  const { text, ms, since } = reasoned
  const passed = ms + (since === null ? 0 : Math.max(0, now - Date.parse(since)))
  return <Reasoning title={`${since === null ? 'Thought' : 'Thinking'} for ${formatElapsed(passed)}`} text={text} />
}

/** Closed until somebody opens it. The text is plain: a model wrote it, and nobody asked it for Markdown. */
export function Reasoning({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <details data-testid="reasoning">
      <summary className="w-fit cursor-pointer py-0.5 text-xs text-muted hover:text-ink">{title}</summary>
      <TextBlock label="" text={text} />
    </details>
  )
}
