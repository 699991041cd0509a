/** Buttons that copy a text, and a block of code with one. */
import { useCopy } from '../state/use-copy.ts'
import { Button } from './button.tsx'

/** `words` is what the button says; once it has copied, it says so. */
export function CopyButton({ text, words = 'Copy' }: { readonly text: () => string; readonly words?: string }) {
  const { copied, copy } = useCopy()
  return (
    <Button look="quiet" onClick={() => copy(text())}>
      <span aria-live="polite">{copied ? 'Copied' : words}</span>
    </Button>
  )
}

/** A piece of code or a command line to copy. `label` says what it is. */
export function CopyBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <figure className="rounded-md border border-line bg-panel text-left">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        {label}
        <CopyButton text={() => text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keys. */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 font-mono text-xs -outline-offset-2">
        <code>{text}</code>
      </pre>
    </figure>
  )
}
