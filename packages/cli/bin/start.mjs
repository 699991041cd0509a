// Starts the command line: from source in a checkout, else from what was built. Only a Node that is new enough gets here.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import process from 'node:process'

keepCompiled()
if (existsSync(new URL('../src/main.ts', import.meta.url))) {
  resolveToSource()
  await import('../src/main.ts')
} else {
  await import('../dist/main.js')
}

/**
 * Keeps what V8 compiled for the next start, in a folder of this user's own: what lies there is run, so it is no place that others may
 * write to. Where it cannot be written nothing is kept, and nothing is said. `NODE_COMPILE_CACHE` names another folder.
 */
function keepCompiled() {
  try {
    const caches = [process.env.XDG_CACHE_HOME ?? '', join(homedir(), '.cache')].find(isAbsolute)
    if (caches !== undefined) nodeModule.enableCompileCache(join(caches, 'witan'))
  } catch {
    // A user without a home.
  }
}

/** Makes `@witan/…` mean the source also where Node was started without `--conditions=witan-source`. */
function resolveToSource() {
  const condition = 'witan-source'
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('@witan/')
        ? next(specifier, { ...context, conditions: [...(context.conditions ?? []), condition] })
        : next(specifier, context),
  })
}
