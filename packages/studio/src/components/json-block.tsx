/** Values and texts, readable and cut to a length. Never interpreted as HTML, and what would turn or hide a part of them is an escape. */
import { shownText } from '@witan/protocol/shown'
import { formatNumber, formatValue } from '../state/format.ts'
import { ScrollBox } from './scroll-box.tsx'

const shownCharacters = 20_000

/** A value as indented JSON: at most 20,000 characters, and how many were left out. */
export function JsonBlock({ label, value }: { readonly label: string; readonly value: unknown }) {
  return <Block label={label} text={formatValue(value)} look="font-mono text-xs" />
}

/** A message to or from an agent, with its line breaks; cut like a value. */
export function TextBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return <Block label={label} text={text} look="font-sans" />
}

function Block({ label, text, look }: { readonly label: string; readonly text: string; readonly look: string }) {
  const left = text.length - shownCharacters
  return (
    <div>
      {label !== '' && <p className="label">{label}</p>}
      <ScrollBox
        label={label === '' ? 'Value' : label}
        className="mt-1 max-h-72 rounded-md border border-line bg-sunken px-2.5 py-2"
      >
        <pre className={`whitespace-pre-wrap break-words ${look}`}>
          {shownText(left > 0 ? text.slice(0, shownCharacters) : text)}
        </pre>
      </ScrollBox>
      {left > 0 && <p className="mt-1 text-xs text-muted">{formatNumber(left)} more characters are not shown.</p>}
    </div>
  )
}
