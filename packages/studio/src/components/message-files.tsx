/** The files of a message: pictures are shown, others are named; each can be saved. */
import type { FileReference } from '@witan/protocol/files'
import { sizeText } from '@witan/protocol/files'
import type { ReactNode } from 'react'
import { fileAddress } from '../state/address.ts'

/** Pictures that no browser runs as a page. */
const shown: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

interface MessageFilesProps {
  readonly conversationId: string
  readonly files: readonly FileReference[]
}

/** Shows the files below the words of their message, each content once. */
export function MessageFiles({ conversationId, files }: MessageFilesProps) {
  const once = new Map(files.map((file) => [file.digest, file]))
  return (
    <ul aria-label="Files" className="mt-1.5 flex flex-wrap gap-2">
      {[...once.values()].map((file) => (
        <li key={file.digest} className="min-w-0">
          <MessageFile address={fileAddress(conversationId, file.digest)} file={file} />
        </li>
      ))}
    </ul>
  )
}

function MessageFile({ address, file }: { readonly address: string; readonly file: FileReference }) {
  const { name, mediaType, bytes } = file
  const label = name ?? mediaType
  return (
    <a href={address} download={name ?? ''} title={`Save ${label} (${mediaType})`} className="block">
      {shown.includes(mediaType) && (
        <img
          src={address}
          alt={label}
          loading="lazy"
          className="mb-1 max-h-56 max-w-full rounded-md border border-line bg-panel object-contain"
        />
      )}
      <FileChip name={label} detail={sizeText(bytes)} />
    </a>
  )
}

interface FileChipProps {
  readonly name: string
  readonly detail: string
  readonly children?: ReactNode
}

/** A file in one line: its name and its size. */
export function FileChip({ name, detail, children }: FileChipProps) {
  return (
    <span className="inline-flex max-w-64 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2 py-0.5 text-xs">
      <span className="truncate font-medium" dir="auto">
        {name}
      </span>
      <span className="shrink-0 text-muted tabular-nums">{detail}</span>
      {children}
    </span>
  )
}
