/** The part of a configuration that says where telemetry goes. */
import type { RuntimeOptions } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { z } from 'zod'

const url = z.url({ protocol: /^https?$/ }).max(2_000)
const maxQueue = z.number().int().min(1).max(1_000_000)
const content = z.enum(['none', 'full'])
/** A value, or the name of the environment variable that holds it. */
const headers = z
  .record(
    z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,200}$/, { error: 'must be the name of a header' }),
    z.union([z.string().max(8_000), z.strictObject({ env: z.string().min(1).max(200) })]),
  )
  .optional()

/** Without a part, that part costs nothing. */
export const telemetrySchema = z
  .strictObject({
    /** Whether the server counts figures, and shows them at `/metrics`. */
    metrics: z.boolean().optional(),
    /** A collector that takes OTLP over HTTP. */
    otlp: z
      .strictObject({
        url,
        headers,
        protocol: z.enum(['http/protobuf', 'http/json']).optional(),
        content: content.optional(),
        maxQueue: maxQueue.optional(),
      })
      .optional(),
    /** An MLflow server, from version 3.6 on. */
    mlflow: z
      .strictObject({
        url,
        headers,
        experiment: z.string().min(1).max(200).optional(),
        content: content.optional(),
        runs: z.enum(['none', 'conversation']).optional(),
        artifacts: z.boolean().optional(),
        maxQueue: maxQueue.optional(),
      })
      .optional(),
  })
  .prefault({})
type TelemetryConfig = z.output<typeof telemetrySchema>

/** The telemetry options of a configuration. Throws `CONFIG_INVALID` if the environment lacks the value of a header. */
export function telemetryOptions(
  { otlp, mlflow, metrics = false }: TelemetryConfig,
  env: Readonly<Record<string, string | undefined>>,
): NonNullable<RuntimeOptions['telemetry']> {
  return {
    ...(metrics ? { metrics } : {}),
    ...(otlp === undefined ? {} : { otlp: { ...defined(otlp), headers: headersOf('otlp', otlp.headers ?? {}, env) } }),
    ...(mlflow === undefined ? {} : { mlflow: mlflowOptions(mlflow, env) }),
  }
}

function mlflowOptions(
  given: NonNullable<TelemetryConfig['mlflow']>,
  env: Readonly<Record<string, string | undefined>>,
) {
  return { ...defined(given), headers: headersOf('mlflow', given.headers ?? {}, env) }
}

type Defined<Options> = { [Key in keyof Options]: Exclude<Options[Key], undefined> }

/** The options that are set. */
function defined<Options extends object>(options: Options): Defined<Options> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<Options>
}

function headersOf(
  part: string,
  given: NonNullable<z.output<typeof headers>>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = Object.entries(given).map(([name, value]) => {
    if (typeof value === 'string') return [name, value] as const
    const found = env[value.env] ?? ''
    if (found !== '') return [name, found] as const
    throw new WitanError('CONFIG_INVALID', `The environment variable ${value.env} of a header is not set.`, {
      path: `telemetry.${part}.headers.${name}.env`,
      hint: 'Set it, or write the value of the header.',
    })
  })
  return Object.fromEntries(entries)
}
