/** What the model of an agent would read first: its system message and its tools, for the values that are given. */
import { useQuery } from '@tanstack/react-query'
import type { GivenParameter, StoredAgent } from '@witan/protocol'
import { useState } from 'react'
import { formatNumber } from '../state/format.ts'
import { witan } from '../state/witan.ts'
import { JsonBlock, TextBlock } from './json-block.tsx'
import { UnreadNote } from './note.tsx'
import { ParameterFields } from './parameter-fields.tsx'

/** For admins: nobody else may ask for a preview. */
export function ModelReads({ agent }: { readonly agent: StoredAgent }) {
  const [given, setGiven] = useState<Record<string, GivenParameter>>({})
  const preview = useQuery({
    queryKey: ['preview', agent.id, agent.revision, given],
    queryFn: () => witan.agents.preview(agent.id, { parameters: given }),
    placeholderData: (before) => before,
  })
  return (
    <section aria-label="What its model reads" className="space-y-4">
      <div>
        <h2 className="text-base font-semibold">What its model reads</h2>
        <p className="text-muted">The first request of a new conversation. Nothing is stored, and no model is asked.</p>
      </div>
      <ParameterFields agent={agent} words="Show with these values" mayLack onGiven={setGiven} />
      {preview.data === undefined || preview.isError ? (
        <UnreadNote query={preview} what="the preview" />
      ) : (
        <>
          {preview.data.notices.map(({ code, detail }) => (
            <p key={`${code} ${detail}`} className="break-words text-muted">
              <span className="mr-2 font-mono text-xs text-wait">{code}</span>
              {detail}
            </p>
          ))}
          <h3 className="font-semibold">System message</h3>
          <TextBlock label="" text={preview.data.system ?? ''} />
          <h3 className="font-semibold">Tools</h3>
          {preview.data.tools.length === 0 && <p className="text-muted">It is offered none.</p>}
          {preview.data.tools.map(({ name, description, parameters }) => (
            <JsonBlock key={name} label={name} value={{ description, parameters }} />
          ))}
          <p className="text-muted">
            About {formatNumber(preview.data.tokens ?? 0)} tokens, and its choice of tools is{' '}
            {preview.data.toolChoice ?? 'none'}.
          </p>
        </>
      )}
    </section>
  )
}
