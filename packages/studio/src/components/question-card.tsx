/** Questions with their options and free text, answered together; those of an MCP server may be declined. */
import type { Interruption, Question } from '@witan/protocol'
import { shownText } from '@witan/protocol/shown'
import { useId, useState } from 'react'
import { useAgentName } from '../state/queries.ts'
import { useAnswer } from '../state/use-answer.ts'
import { Button } from './button.tsx'
import { Card } from './card.tsx'
import { ScrollBox } from './scroll-box.tsx'

interface Choice {
  readonly options: readonly string[]
  readonly text: string
}

const nothing: Choice = { options: [], text: '' }
const isAnswered = ({ options, text }: Choice) => options.length > 0 || text.trim() !== ''

/** Can be sent when every required question has an answer. */
export function QuestionCard({ asked }: { readonly asked: Interruption & { readonly kind: 'question' } }) {
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({})
  const { sending, error, send } = useAnswer(asked.id)
  const nameOf = useAgentName()
  const missing = asked.questions.some(({ id, required }) => required && !isAnswered(choices[id] ?? nothing))
  const submit = () => {
    if (missing) return
    const given = asked.questions.flatMap(({ id }) => {
      const { options, text } = choices[id] ?? nothing
      const words = text.trim() === '' ? {} : { text: text.trim() }
      return isAnswered({ options, text }) ? [[id, { ...(options.length === 0 ? {} : { options }), ...words }]] : []
    })
    send({ answer: Object.fromEntries(given) })
  }
  const { server } = asked
  const what = asked.questions.length === 1 ? 'a question' : 'questions'
  return (
    <Card
      of={asked}
      title={nameOf(asked.agent)}
      says={server === undefined ? `has ${what}` : `passes on ${what}`}
      error={error}
      onSubmit={submit}
      buttons={
        <>
          <Button type="submit" look="primary" disabled={sending || missing}>
            {sending ? 'Sent, continuing …' : 'Send answer'}
          </Button>
          {server !== undefined && (
            <Button look="danger" disabled={sending} onClick={() => send({ answer: { decision: 'declined' } })}>
              Decline
            </Button>
          )}
        </>
      }
    >
      {server !== undefined && <ServerWords server={server} message={asked.message ?? ''} />}
      {asked.questions.map((question) => (
        <QuestionField
          key={question.id}
          question={question}
          choice={choices[question.id] ?? nothing}
          onChoice={(choice) => setChoices({ ...choices, [question.id]: choice })}
        />
      ))}
    </Card>
  )
}

/** Who asks behind the agent, in its own words. */
function ServerWords({ server, message }: { readonly server: string; readonly message: string }) {
  return (
    <div className="space-y-1.5">
      <p>
        <code className="break-all rounded bg-sunken px-1.5 py-0.5 font-mono font-medium">{shownText(server)}</code>{' '}
        asks:
      </p>
      {message !== '' && (
        <ScrollBox label="Words of the MCP server" className="max-h-72 whitespace-pre-wrap break-words text-base">
          {shownText(message)}
        </ScrollBox>
      )}
      <p className="text-xs text-muted">
        Your answer goes to this MCP server. A model reads only what the server makes of it.
      </p>
    </div>
  )
}

interface FieldProps {
  readonly question: Question
  readonly choice: Choice
  readonly onChoice: (choice: Choice) => void
}

function QuestionField({ question, choice, onChoice }: FieldProps) {
  const name = useId()
  const { options, multiple, freeText, required, text } = question
  const toggle = (id: string) => {
    const others = choice.options.filter((one) => one !== id)
    const rest = multiple ? others : []
    onChoice({ ...choice, options: choice.options.includes(id) ? others : [...rest, id] })
  }
  return (
    <fieldset className="min-w-0 space-y-1.5">
      <legend className="mb-1.5 w-full">
        <ScrollBox label="Question" className="max-h-72 whitespace-pre-wrap break-words text-base">
          {shownText(text)}
          {!required && <span className="text-xs text-muted"> (optional)</span>}
        </ScrollBox>
      </legend>
      {options.map(({ id, label }) => (
        <label key={id} className="flex min-h-8 items-center gap-2 break-words">
          <input
            type={multiple || !required ? 'checkbox' : 'radio'}
            name={name}
            className="size-4 shrink-0 accent-accent"
            checked={choice.options.includes(id)}
            onChange={() => toggle(id)}
          />
          <span className="min-w-0 break-words">{shownText(label)}</span>
        </label>
      ))}
      {freeText && (
        <textarea
          className="field"
          rows={2}
          aria-label={options.length === 0 ? shownText(text) : `${shownText(text)} In your own words`}
          placeholder={options.length === 0 ? '' : 'Or in your own words'}
          value={choice.text}
          onChange={(event) => onChoice({ ...choice, text: event.target.value })}
        />
      )}
    </fieldset>
  )
}
