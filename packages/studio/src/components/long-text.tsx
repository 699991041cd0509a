/** A text of any length, up to megabytes: the browser lays out the pieces near the view alone, and still finds words in all of them. */
import { shownText } from '@witan/protocol/shown'
import { useMemo } from 'react'
import { ScrollBox } from './scroll-box.tsx'

const pieceLength = 8_000
/** Longer texts scroll in a box of their own. */
const boxFrom = 1_500

/** Never cut: line breaks stay, and what would turn or hide a part of it is an escape. */
export function LongText({ label, text }: { readonly label: string; readonly text: string }) {
  const pieces = useMemo(() => piecesOf(shownText(text)), [text])
  const shown = (
    <pre className="whitespace-pre-wrap break-words font-sans">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is known by its place.
        <span key={index} className={pieces.length > 1 ? 'text-piece' : ''}>
          {piece}
        </span>
      ))}
    </pre>
  )
  if (text.length < boxFrom) return shown
  return (
    <ScrollBox label={label} className="mt-1 max-h-96 rounded-md bg-sunken px-2.5 py-2">
      {shown}
    </ScrollBox>
  )
}

/** Ends at line breaks where there are any. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length; ) {
    const line = text.lastIndexOf('\n', from + pieceLength)
    const to = from + pieceLength >= text.length ? text.length : line > from ? line + 1 : from + pieceLength
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}
