/** Where files are chosen, dropped or pasted, and those that go with the next message. */
import { sizeText } from '@witan/protocol/files'
import type { ClipboardEvent, DragEvent } from 'react'
import { useRef } from 'react'
import { addFiles, bytesOf, keyOf, putFiles, useAttachments } from '../state/attachments.ts'
import { Button } from './button.tsx'
import { FileChip } from './message-files.tsx'

interface DraftProps {
  /** The name of the draft that the files belong to. */
  readonly draft: string
  readonly disabled?: boolean
}

/** Opens the browser's choice of files. */
export function AttachButton({ draft, disabled = false }: DraftProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          void addFiles(draft, [...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      <Button disabled={disabled} onClick={() => input.current?.click()}>
        Attach
      </Button>
    </>
  )
}

/** The files of the draft, each with a button that removes it, and why one was not taken. */
export function AttachedFiles({ draft, disabled = false }: DraftProps) {
  const { files, problem } = useAttachments(draft)
  if (files.length === 0 && problem === null) return null
  return (
    <div className="space-y-1.5">
      {files.length > 0 && (
        <ul aria-label="Attached files" className="flex flex-wrap gap-1.5">
          {files.map((file) => (
            <li key={keyOf(file)}>
              <FileChip name={file.name ?? file.mediaType} detail={sizeText(bytesOf(file))}>
                <button
                  type="button"
                  disabled={disabled}
                  aria-label={`Remove ${file.name ?? file.mediaType}`}
                  className="-mr-1 rounded px-1 text-muted hover:bg-sunken hover:text-ink"
                  onClick={() =>
                    putFiles(
                      draft,
                      files.filter((one) => one !== file),
                    )
                  }
                >
                  ×
                </button>
              </FileChip>
            </li>
          ))}
        </ul>
      )}
      {problem !== null && (
        <p role="alert" className="text-fail">
          {problem}
        </p>
      )}
    </div>
  )
}

/** Handlers of a form that takes files which are dropped or pasted into it. Pasted text stays with its field. */
export function takesFiles({ draft, disabled = false }: DraftProps) {
  const take = (files: FileList) => {
    if (disabled || files.length === 0) return false
    void addFiles(draft, [...files])
    return true
  }
  return {
    onDrop(event: DragEvent) {
      if (take(event.dataTransfer.files)) event.preventDefault()
    },
    onDragOver(event: DragEvent) {
      if (!disabled && event.dataTransfer.types.includes('Files')) event.preventDefault()
    },
    onPaste(event: ClipboardEvent) {
      if (take(event.clipboardData.files)) event.preventDefault()
    },
  }
}
