/** What an agent declares: each parameter with who may see it and who may give it. */
import type { Parameter } from '@witan/protocol'
import { Mark } from './mark.tsx'

/** A table, or a sentence where nothing is declared. */
export function ParameterTable({ parameters }: { readonly parameters: readonly Parameter[] }) {
  if (parameters.length === 0) return <p className="mt-1 text-muted">It declares none, so it sees only its task.</p>
  return (
    <table className="mt-2 w-full text-left">
      <thead>
        <tr className="label border-b border-line">
          <th className="py-1.5 pr-4 font-semibold">Name</th>
          <th className="hidden py-1.5 pr-4 font-semibold sm:table-cell">Type</th>
          <th className="py-1.5 pr-4 font-semibold">Visibility and trust</th>
          <th className="hidden py-1.5 font-semibold lg:table-cell">Description</th>
        </tr>
      </thead>
      <tbody>
        {parameters.map((parameter) => (
          <tr key={parameter.name} className="border-b border-line align-top">
            <td className="break-all py-2 pr-4 font-mono">
              {parameter.name}
              <span className="block text-xs text-muted sm:hidden">{parameter.type}</span>
            </td>
            <td className="hidden py-2 pr-4 font-mono text-muted sm:table-cell">{parameter.type}</td>
            <td className="py-2 pr-4">
              <ParameterMarks parameter={parameter} />
              <span className="mt-1 block text-muted lg:hidden">{parameter.description}</span>
            </td>
            <td className="hidden py-2 text-muted lg:table-cell">{parameter.description}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function ParameterMarks({ parameter }: { readonly parameter: Parameter }) {
  return (
    <span className="flex flex-wrap gap-1.5">
      {parameter.sendToModel ? (
        <Mark title="The agent's model sees its value.">
          <Eye open /> shown
        </Mark>
      ) : (
        <HiddenMark />
      )}
      {parameter.policy === 'forbidModelGeneration' && <TrustedMark />}
      {parameter.secret && (
        <Mark title="Its value is taken out of every text on its way to the agent's model.">secret</Mark>
      )}
    </span>
  )
}

/** The mark of a parameter that its agent's model does not see. */
export function HiddenMark() {
  return (
    <Mark title="The agent's model does not see its value: the system supplies it.">
      <Eye open={false} /> hidden
    </Mark>
  )
}

/** Only a caller or an author may give the value, never a model. */
export function TrustedMark() {
  return (
    <Mark tone="accent" title="Only a caller or an author may give it; a value that a model made is refused.">
      <svg
        viewBox="0 0 16 16"
        className="size-3.5"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        aria-hidden="true"
      >
        <path d="M8 1.8 3 3.7v4c0 3 2 5.4 5 6.5 3-1.1 5-3.5 5-6.5v-4zM5.6 8l1.8 1.8 3-3.4" />
      </svg>
      trusted
    </Mark>
  )
}

function Eye({ open }: { readonly open: boolean }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className="size-3.5"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      <path d="M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8z" />
      {open ? <circle cx="8" cy="8" r="1.9" /> : <path d="M3 13 13 3" />}
    </svg>
  )
}
