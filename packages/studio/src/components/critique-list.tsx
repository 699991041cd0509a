/** What was said of the answers of a call, and whether they were given again. */
import type { CallView } from '@witan/client'
import { useAgentName } from '../state/queries.ts'
import { shownText } from '@witan/protocol/shown'

/** Nothing without any. */
export function CritiqueList({ critiques }: Pick<CallView, 'critiques'>) {
  const nameOf = useAgentName()
  if (critiques.length === 0) return null
  return (
    <div>
      <p className="label">Critique</p>
      <ul aria-label="Critique" className="mt-1 divide-y divide-line rounded-md border border-line bg-panel">
        {critiques.map(({ seq, verdict, problems, by }) => (
          <li key={seq} className="px-2.5 py-1.5">
            <p>
              {nameOf(by)}{' '}
              {verdict === 'pass'
                ? 'found nothing: the answer stands.'
                : 'found problems, and asked for another answer.'}
            </p>
            {problems.length > 0 && (
              <ul className="mt-1 list-disc pl-5">
                {problems.map((problem, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes, whose texts may be equal
                  <li key={at} className="break-words">
                    {shownText(problem)}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
