/** The form that adds documents to a base: files that are chosen or dropped, or a text that is pasted. */
import type { KnowledgeDocumentInput, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { shownText } from '@witan/protocol/shown'
import { sizeText } from '@witan/protocol/files'
import { type DragEvent, type FormEvent, useId, useRef, useState } from 'react'
import { attributeText, readAttribute } from '../state/knowledge.ts'
import { base64, documentOf, mostFileBytes, offeredEndings, textTypes } from '../state/knowledge-files.ts'
import { Button } from './button.tsx'
import { ProblemNote } from './note.tsx'
import { TabList } from './tab-list.tsx'
import { TextLine } from './text-line.tsx'

interface AddProps {
  readonly base: StoredKnowledgeBase
  readonly onSend: (documents: readonly KnowledgeDocumentInput[]) => Promise<void>
}

const ways = [
  { value: 'files', words: 'Files' },
  { value: 'text', words: 'Text' },
] as const
type Way = (typeof ways)[number]['value']
const tabsId = 'add-documents'

const emptyText = { key: '', title: '', uri: '', mediaType: 'text/markdown', text: '' }

/** What was sent leaves the form; what the server refused stays in it. */
export function AddDocuments({ base, onSend }: AddProps) {
  const [way, setWay] = useState<Way>('files')
  const [prefix, setPrefix] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])
  const [text, setText] = useState(emptyText)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const fitting = files.filter(({ size }) => size <= mostFileBytes)
  const isEmpty = way === 'files' ? fitting.length === 0 : text.key.trim() === '' || text.text === ''
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const read = attributesOf(base, values)
    setProblems(read.problems)
    if (isEmpty || sending || Object.keys(read.problems).length > 0) return
    setSending(true)
    setError(null)
    try {
      const { attributes } = read
      const documents =
        way === 'files'
          ? await Promise.all(fitting.map((file) => documentOf(file, { prefix, attributes })))
          : [textDocument(text, attributes)]
      await onSend(documents)
      setFiles([])
      setText(emptyText)
    } catch (reason) {
      setError(reason)
    }
    setSending(false)
  }
  return (
    <form
      aria-label="Add documents"
      onSubmit={(event) => void submit(event)}
      className="mt-3 rounded-md border border-line bg-panel"
      noValidate
    >
      <TabList id={tabsId} label="How to add" tabs={ways} chosen={way} onChoose={setWay} />
      <div
        role="tabpanel"
        id={`${tabsId}-panel`}
        aria-labelledby={`${tabsId}-${way}`}
        className="space-y-4 border-t border-line p-4"
      >
        {way === 'files' ? (
          <FileChoice files={files} prefix={prefix} onFiles={setFiles} onPrefix={setPrefix} />
        ) : (
          <TextFields text={text} onText={setText} />
        )}
        <AttributeFields base={base} values={values} problems={problems} onValues={setValues} />
        {error !== null && <ProblemNote error={error} />}
        <Button type="submit" look="primary" disabled={isEmpty || sending}>
          {sending ? 'Sending …' : 'Add'}
        </Button>
      </div>
    </form>
  )
}

type TypedText = typeof emptyText

function textDocument(
  { key, title, uri, mediaType, text }: TypedText,
  attributes: NonNullable<KnowledgeDocumentInput['attributes']>,
): KnowledgeDocumentInput {
  const named = { ...(title === '' ? {} : { title }), ...(uri === '' ? {} : { uri }) }
  return { key: key.trim(), mediaType, data: base64(new TextEncoder().encode(text)), attributes, ...named }
}

function attributesOf(base: StoredKnowledgeBase, values: Readonly<Record<string, string>>) {
  const attributes: NonNullable<KnowledgeDocumentInput['attributes']> = {}
  const problems: Record<string, string> = {}
  for (const [name, type] of Object.entries(base.attributes)) {
    const text = values[name] ?? ''
    if (text === '') continue
    const read = readAttribute(type, text)
    if (read.problem === null) attributes[name] = read.value
    else problems[name] = read.problem
  }
  return { attributes, problems }
}

interface FileProps {
  readonly files: readonly File[]
  readonly prefix: string
  readonly onFiles: (files: readonly File[]) => void
  readonly onPrefix: (prefix: string) => void
}

function FileChoice({ files, prefix, onFiles, onPrefix }: FileProps) {
  const input = useRef<HTMLInputElement>(null)
  const about = useId()
  const add = (given: Iterable<File>) => {
    const names = new Set([...given].map(({ name }) => name))
    onFiles([...files.filter(({ name }) => !names.has(name)), ...given])
  }
  const drop = {
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      add([...event.dataTransfer.files])
    },
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer.types.includes('Files')) event.preventDefault()
    },
  }
  return (
    <>
      <div {...drop} className="rounded-md border border-dashed border-line-strong px-4 py-5 text-center">
        <input
          ref={input}
          type="file"
          multiple
          hidden
          accept={offeredEndings}
          aria-label="Files to add"
          onChange={(event) => {
            add([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
        <Button aria-describedby={about} onClick={() => input.current?.click()}>
          Choose files
        </Button>
        <p id={about} className="mt-2 text-xs text-pretty text-muted">
          Or drop them here. Text, Markdown, HTML, CSV, JSON and PDF, each up to {sizeText(mostFileBytes)}; a server may
          read more.
        </p>
      </div>
      {files.length > 0 && (
        <ul aria-label="Chosen files" className="max-h-60 space-y-1 overflow-y-auto">
          {files.map((file) => (
            <li key={file.name} className="flex items-center gap-2">
              <span className="min-w-0 flex-1 truncate font-mono text-xs" dir="auto">
                {shownText(`${prefix}${file.name}`)}
              </span>
              <span
                className={`shrink-0 text-xs tabular-nums ${file.size > mostFileBytes ? 'text-fail' : 'text-muted'}`}
              >
                {sizeText(file.size)}
                {file.size > mostFileBytes && ', too large: it is left out'}
              </span>
              <Button
                look="quiet"
                aria-label={`Remove ${file.name}`}
                onClick={() => onFiles(files.filter((one) => one !== file))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="max-w-sm">
        <TextLine
          label="Put before each key"
          value={prefix}
          onChange={onPrefix}
          code
          placeholder="such as guides/"
          about="A key is the name of the file. A document with the same key is replaced."
        />
      </div>
    </>
  )
}

function TextFields({ text, onText }: { readonly text: TypedText; readonly onText: (text: TypedText) => void }) {
  const put = (name: keyof TypedText) => (value: string) => onText({ ...text, [name]: value })
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextLine
          label="Key"
          value={text.key}
          onChange={put('key')}
          code
          placeholder="guides/start.md"
          about="A document with the same key is replaced."
        />
        <TextLine
          label="Type"
          value={text.mediaType}
          onChange={put('mediaType')}
          options={textTypes.map((one) => [one, one] as const)}
        />
        <TextLine label="Title" value={text.title} onChange={put('title')} about="Without one: its first heading." />
        <TextLine
          label="Address"
          value={text.uri}
          onChange={put('uri')}
          code
          placeholder="https://…"
          about="Shown under answers. Nothing is fetched from there."
        />
      </div>
      <TextLine label="Text" value={text.text} onChange={put('text')} rows={8} />
    </>
  )
}

interface AttributeProps {
  readonly base: StoredKnowledgeBase
  readonly values: Readonly<Record<string, string>>
  readonly problems: Readonly<Record<string, string>>
  readonly onValues: (values: Readonly<Record<string, string>>) => void
}

function AttributeFields({ base, values, problems, onValues }: AttributeProps) {
  const attributes = Object.entries(base.attributes)
  if (attributes.length === 0) return null
  return (
    <fieldset className="grid gap-3 sm:grid-cols-2">
      <legend className="label mb-1">Attributes</legend>
      {attributes.map(([name, type]) => (
        <TextLine
          key={name}
          label={name}
          value={values[name] ?? ''}
          onChange={(value) => onValues({ ...values, [name]: value })}
          code
          problem={problems[name]}
          about={
            base.requiredFilters.includes(name)
              ? 'The base demands a filter by it: without a value no agent sees the document.'
              : type === 'string[]'
                ? `Texts with commas between them, such as ${attributeText(['north', 'south'])}.`
                : `A ${type}.`
          }
          {...(type === 'boolean'
            ? { options: [['', 'none'] as const, ['true', 'true'] as const, ['false', 'false'] as const] }
            : {})}
        />
      ))}
    </fieldset>
  )
}
