/** A schema of the careless kind: it lets everything through as it is, or complains in words that quote what it got. */
import type { StandardSchema } from '@witan/core'

type Arguments = Record<string, unknown>

/** Complains as told; without complaints the arguments pass unchanged, prototype included. */
export function schemaOf(complain: (args: Arguments) => readonly string[] = () => []): StandardSchema<Arguments> {
  return {
    '~standard': {
      version: 1,
      vendor: 'careless',
      validate: (value) => {
        const issues = complain(value as Arguments).map((message) => ({ message }))
        return issues.length === 0 ? { value: value as Arguments } : { issues }
      },
    },
  }
}
