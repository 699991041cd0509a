/** What the doctor finds: one thing looked at, how it is, and how to mend it. */
import { describe } from '../failure.ts'

/** `area` says what was looked at; `fix` is one line, null where nothing is to be done. */
export interface DoctorFinding {
  readonly area: string
  readonly state: 'good' | 'warning' | 'bad'
  readonly text: string
  readonly fix: string | null
}

/** All is well with it. */
export function good(area: string, text: string): DoctorFinding {
  return { area, state: 'good', text, fix: null }
}

/** It works, and somebody should know. */
export function warning(area: string, text: string, fix: string): DoctorFinding {
  return { area, state: 'warning', text, fix }
}

/** It does not work. */
export function bad(area: string, text: string, fix: string): DoctorFinding {
  return { area, state: 'bad', text, fix }
}

/** What an error says, as a finding. */
export function refused(area: string, error: unknown, fix: string): DoctorFinding {
  const { code, detail, hint } = describe(error)
  return bad(area, code === 'ERROR' ? detail : `${code}: ${detail}`, hint ?? fix)
}
