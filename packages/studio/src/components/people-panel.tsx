/** Who takes part in a conversation, with a form to add somebody. */
import { type FormEvent, useState } from 'react'
import { refreshConversation, refreshParticipants, useParticipants } from '../state/queries.ts'
import { witan } from '../state/witan.ts'
import { Button } from './button.tsx'
import { ProblemNote } from './note.tsx'
import { Pill } from './pill.tsx'

/** The tools of agents change with the next run. */
export function PeoplePanel({ conversationId }: { readonly conversationId: string }) {
  const people = (useParticipants(conversationId).data ?? []).filter(({ leftAt }) => leftAt === null)
  const [isOpen, setOpen] = useState(false)
  const { busy, error, change } = useChange(conversationId)
  const { participants } = witan.conversations
  return (
    <section aria-label="People" className="border-b border-line px-4 py-1.5 md:px-6" data-testid="people">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-xs text-muted">{people.length === 0 ? 'No named people take part' : 'People'}</h2>
        <ul className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
          {people.map(({ id, name, roles }) => (
            <li key={id} className="flex items-center gap-1.5" data-testid="person">
              <span className="font-medium" title={id}>
                {name ?? id}
              </span>
              {roles.map((role) => (
                <Pill key={role}>{role}</Pill>
              ))}
              {isOpen && (
                <Button
                  look="quiet"
                  disabled={busy}
                  aria-label={`Remove ${name ?? id}`}
                  onClick={() => change(() => participants.remove(conversationId, id))}
                >
                  Remove
                </Button>
              )}
            </li>
          ))}
        </ul>
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Done' : 'Change'}
        </Button>
      </div>
      {isOpen && (
        <AddPerson
          busy={busy}
          onAdd={(person, added) => change(() => participants.add(conversationId, person), added)}
        />
      )}
      {error !== null && <ProblemNote error={error} />}
    </section>
  )
}

interface AddProps {
  readonly busy: boolean
  readonly onAdd: (person: { readonly id: string; readonly name?: string }, added: () => void) => void
}

function AddPerson({ busy, onAdd }: AddProps) {
  const [id, setId] = useState('')
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const called = name.trim()
    onAdd({ id: id.trim(), ...(called === '' ? {} : { name: called }) }, () => {
      setId('')
      setName('')
    })
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2 py-2">
      <label className="min-w-0 flex-1">
        <span className="block text-xs text-muted">Id of the person</span>
        <input className="field" value={id} onChange={(event) => setId(event.target.value)} placeholder="bob" />
      </label>
      <label className="min-w-0 flex-1">
        <span className="block text-xs text-muted">Name, if no agent gives one</span>
        <input className="field" value={name} onChange={(event) => setName(event.target.value)} placeholder="Bob" />
      </label>
      <Button type="submit" disabled={busy || id.trim() === ''}>
        Add
      </Button>
    </form>
  )
}

function useChange(conversationId: string) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const change = (work: () => Promise<unknown>, done: () => void = () => {}) => {
    setBusy(true)
    setError(null)
    work()
      .then(done, setError)
      .finally(() => {
        setBusy(false)
        refreshParticipants(conversationId)
        refreshConversation(conversationId)
      })
  }
  return { busy, error, change }
}
