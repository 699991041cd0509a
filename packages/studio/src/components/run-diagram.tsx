/** A run as a sequence diagram: a column for each agent and person, an arrow for each thing that was said, in order. */
import { type Arrow, type Diagram, diagramMermaid, type Participant } from '@witan/protocol/protocols'
import { useRef } from 'react'
import { useFullScreen } from '../state/use-full-screen.ts'
import { plainText } from '../state/plain-text.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { ScrollBox } from './scroll-box.tsx'
import { AgentName, AgentSign } from './agent-sign.tsx'

/** The width of a column, in rem. */
const column = 8.5

/** Grows with the run. It can take the whole screen, which Escape leaves. */
export function RunDiagram(diagram: Diagram) {
  const frame = useRef<HTMLDivElement>(null)
  const { isFull, toggle } = useFullScreen(frame)
  return (
    <div ref={frame} className="flex min-h-0 flex-1 flex-col bg-panel">
      <div className="flex shrink-0 justify-end gap-1 border-b border-line px-2 py-1">
        <CopyButton words="Copy as Mermaid" text={() => diagramMermaid(diagram)} />
        <Button look="quiet" aria-pressed={isFull} onClick={toggle}>
          Full screen
        </Button>
      </div>
      <Drawing {...diagram} />
    </div>
  )
}

function Drawing({ participants, arrows }: Diagram) {
  const columns = new Map(participants.map(({ id }, index) => [id, index]))
  const width = { width: `${participants.length * column}rem` }
  return (
    <ScrollBox label="Diagram" className="min-h-0 flex-1" testId="diagram">
      <div className="relative mx-auto pb-4" style={width}>
        {participants.map(({ id }, index) => (
          <span
            key={id}
            aria-hidden="true"
            className="absolute inset-y-0 w-px bg-line"
            style={{ left: `${(index + 0.5) * column}rem` }}
          />
        ))}
        <div className="sticky top-0 z-10 flex border-b border-line bg-panel">
          {participants.map((one) => (
            <Head key={one.id} {...one} />
          ))}
        </div>
        <ol aria-label="Who said what to whom" className="relative pt-2">
          {arrows.map((arrow) => (
            <ArrowRow
              key={arrow.number}
              arrow={arrow}
              from={columns.get(arrow.from) ?? 0}
              to={columns.get(arrow.to) ?? 0}
            />
          ))}
        </ol>
      </div>
    </ScrollBox>
  )
}

function Head({ id, isPerson }: Participant) {
  return (
    <div
      className="flex min-w-0 items-center justify-center gap-1.5 px-1 py-2"
      style={{ width: `${column}rem` }}
      title={id}
    >
      {isPerson ? (
        <span className="truncate text-muted">{id}</span>
      ) : (
        <>
          <AgentSign id={id} />
          <span className="truncate font-medium">
            <AgentName id={id} />
          </span>
        </>
      )}
    </div>
  )
}

const looks = {
  message: { line: 'border-solid border-ink', text: '' },
  answer: { line: 'border-dashed border-muted', text: 'text-muted' },
  failure: { line: 'border-dashed border-fail', text: 'text-fail' },
  refused: { line: 'border-solid border-fail', text: 'text-fail' },
} as const

interface ArrowProps {
  readonly arrow: Arrow
  readonly from: number
  readonly to: number
}

function ArrowRow({ arrow, from, to }: ArrowProps) {
  const { number, kind, code } = arrow
  const text = plainText(arrow.text)
  const look = looks[kind]
  const left = Math.min(from, to)
  const place = { marginLeft: `${(left + 0.5) * column}rem`, width: `${Math.max(1, Math.abs(to - from)) * column}rem` }
  const words = `${arrow.from} to ${arrow.to}${kind === 'refused' ? ', refused' : ''}: ${text}`
  return (
    <li className="py-1.5 text-xs" style={place} title={words} aria-label={`${number}. ${words}`}>
      <span aria-hidden="true" className={`line-clamp-2 px-2 break-words bg-panel/85 ${look.text}`}>
        <span className="mr-1.5 tabular-nums text-muted">{number}</span>
        {code !== undefined && <span className="mr-1.5 font-mono font-semibold">{code}</span>}
        {text}
      </span>
      <span aria-hidden="true" className={`relative mt-0.5 block border-t ${look.line}`}>
        <Tip toRight={to >= from} kind={kind} />
      </span>
    </li>
  )
}

/** The head of an arrow. */
function Tip({ toRight, kind }: { readonly toRight: boolean; readonly kind: Arrow['kind'] }) {
  const colour = { message: 'text-ink', answer: 'text-muted', failure: 'text-fail', refused: 'text-fail' }[kind]
  const side = toRight ? 'right-0' : 'left-0 -scale-x-100'
  return (
    <svg viewBox="0 0 8 8" aria-hidden="true" className={`absolute -top-[4.5px] size-2 ${side} ${colour}`}>
      {kind === 'failure' || kind === 'refused' ? (
        <path d="M1 1 7 7M7 1 1 7" stroke="currentColor" strokeWidth="1.5" />
      ) : (
        <path d="M0 0 8 4 0 8z" fill="currentColor" />
      )}
    </svg>
  )
}
