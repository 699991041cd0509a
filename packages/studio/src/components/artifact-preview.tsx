/** The content of a file that an agent made, shown and never run: pictures as pictures, everything else as text. */
import { useQuery } from '@tanstack/react-query'
import type { Artifact } from '@witan/protocol/entries'
import { sizeText } from '@witan/protocol/files'
import { useState } from 'react'
import { artifactAddress, indented, previewKind, type TextStart } from '../state/artifacts.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { Markdown } from './markdown.tsx'
import { LoadingNote, ProblemNote } from './note.tsx'

/** A larger picture is loaded when a reader asks for it. */
const largePicture = 4_000_000

/** The beginning of a text, in the form that its type has; for what is neither text nor a picture, that there is nothing to show. */
export function ArtifactPreview({ artifact }: { readonly artifact: Artifact }) {
  const { mediaType, bytes } = artifact
  const kind = previewKind(mediaType)
  const [isAsked, setAsked] = useState(false)
  if (bytes === 0) return <p className="text-muted">It is empty.</p>
  if (kind === 'none')
    return <p className="text-muted">There is no preview of {mediaType}. Save the file to open it.</p>
  const isPicture = kind === 'picture' || kind === 'drawing'
  if (isPicture && (isAsked || (kind === 'picture' && bytes <= largePicture))) return <Picture artifact={artifact} />
  return (
    <div className="space-y-2">
      {isPicture && <Button onClick={() => setAsked(true)}>Show the picture ({sizeText(bytes)})</Button>}
      {kind !== 'picture' && <Text artifact={artifact} kind={kind} />}
    </div>
  )
}

/** A browser runs no script of a picture, and loads nothing for it. */
function Picture({ artifact: { id, name } }: { readonly artifact: Artifact }) {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return <p className="text-muted">The browser cannot show this picture.</p>
  return (
    <img
      src={artifactAddress(id)}
      alt={name}
      onError={() => setBroken(true)}
      className="max-h-96 max-w-full rounded-md border border-line bg-panel object-contain"
    />
  )
}

interface TextProps {
  readonly artifact: Artifact
  readonly kind: 'drawing' | 'markdown' | 'json' | 'text'
}

function Text({ artifact: { id, bytes }, kind }: TextProps) {
  // An artifact never changes.
  const start = useQuery({
    queryKey: ['artifact', id],
    queryFn: ({ signal }) => readStart(id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (start.isError) return <ProblemNote error={start.error} onRetry={() => void start.refetch()} />
  if (start.data === undefined) return <LoadingNote what="the file" />
  const { text, isCut } = start.data
  return (
    <div data-testid="artifact-text">
      {kind === 'markdown' ? (
        <div className="rounded-md border border-line bg-panel px-3 py-2 text-base">
          <Markdown text={text} />
        </div>
      ) : (
        <pre className="overflow-x-auto whitespace-pre-wrap break-words rounded-md border border-line bg-sunken px-2.5 py-2 font-mono text-xs">
          {kind === 'json' ? indented(start.data) : text}
        </pre>
      )}
      {isCut && <p className="mt-1 text-xs text-muted">This is the beginning; the file has {sizeText(bytes)}.</p>}
    </div>
  )
}

/** How much of a text is read, in bytes. */
const mostRead = 100_000

/** Reads the beginning of an artifact, and no more than that. */
async function readStart(id: string, signal: AbortSignal): Promise<TextStart> {
  const { body } = await witan.artifacts.content(id, { signal })
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let left = mostRead
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += decoder.decode(part.value.subarray(0, left), { stream: true })
    left -= part.value.byteLength
    if (left >= 0) continue
    await reader?.cancel()
    return { text, isCut: true }
  }
  return { text: text + decoder.decode(), isCut: false }
}
