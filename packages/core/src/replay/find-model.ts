/** Finds one model by its name, without a runtime. */
import { systemClock } from '../identity/clock.ts'
import type { Model } from '../model/model.ts'
import { modelDirectory } from '../runtime/models.ts'
import type { RuntimeOptions } from '../runtime/options.ts'

/** The model of that name, as a runtime with these options finds it, with its retries and prices; null if there is none. */
export function findModel(options: RuntimeOptions, name: string): Model | null {
  return modelDirectory(options, systemClock).find(name)
}
