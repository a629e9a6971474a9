// Written by supervise: asks it about each tool call of opencode. See docs/hooks.md.
import { spawnSync } from "node:child_process"

const binary = "{{binary}}"
const args = "{{args}}"
const more = "{{more}}"
const closed = "{{closed}}"

// ask runs supervise with the event and returns its answer; {} when it has none.
function ask(event, message) {
  const res = spawnSync(binary, [...args, event, ...more], { input: JSON.stringify(message), encoding: "utf8", timeout: 30000 })
  try {
    return JSON.parse(res.stdout)
  } catch {
    if (closed && event === "pre_tool") return { decision: "deny", reason: "supervise could not be asked, and hooks.on_error is closed" }
    return {}
  }
}

export const Supervise = async ({ directory }) => {
  const call = (input, args) => ({ session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_input: args, tool_use_id: input.callID })
  const notes = new Map()
  let told = ask("session_start", { cwd: directory }).context
  return {
    "tool.execute.before": async (input, output) => {
      const answer = ask("pre_tool", call(input, output.args))
      if (answer.decision === "deny") throw new Error(answer.reason)
      if (answer.decision === "warn") notes.set(input.callID, answer.reason)
    },
    "tool.execute.after": async (input, output) => {
      const answer = ask("post_tool", call(input, input.args))
      for (const text of [told, answer.context || notes.get(input.callID)]) if (text) output.output += "\n\n" + text
      told = undefined
      notes.delete(input.callID)
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") ask("stop", { session_id: event.properties?.sessionID, cwd: directory })
    },
  }
}
