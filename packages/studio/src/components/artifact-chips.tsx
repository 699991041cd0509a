/** Files that were saved, as small buttons that show them. */
import type { Artifact } from '@witan/protocol/entries'
import { sizeText } from '@witan/protocol/files'
import { FileChip } from './message-files.tsx'

const mostChips = 8

interface ChipsProps {
  readonly artifacts: readonly Artifact[]
  readonly onShow: (id: string) => void
}

/** At most eight; the rest are counted. Nothing without files. */
export function ArtifactChips({ artifacts, onShow }: ChipsProps) {
  if (artifacts.length === 0) return null
  const shown = artifacts.slice(0, mostChips)
  return (
    <ul aria-label="Saved files" className="flex flex-wrap items-center gap-2">
      {shown.map(({ id, name, bytes }) => (
        <li key={id} className="min-w-0">
          <button type="button" onClick={() => onShow(id)} title={`Show ${name}`} className="block max-w-full">
            <FileChip name={name} detail={sizeText(bytes)} />
          </button>
        </li>
      ))}
      {artifacts.length > shown.length && (
        <li className="text-xs text-muted">and {artifacts.length - shown.length} more</li>
      )}
    </ul>
  )
}
