// Written by supervise: asks it about each tool call of pi. See docs/hooks.md.
import { spawnSync } from "node:child_process";

const binary: any = "{{binary}}";
const args: any = "{{args}}";
const more: any = "{{more}}";
const closed: any = "{{closed}}";

// ask runs supervise with the event and returns its answer; {} when it has none.
function ask(event: string, message: any): any {
  const res = spawnSync(binary, [...args, event, ...more], { input: JSON.stringify({ cwd: process.cwd(), ...message }), encoding: "utf8", timeout: 30000 });
  try {
    return JSON.parse(res.stdout);
  } catch {
    if (closed && event === "pre_tool") return { decision: "deny", reason: "supervise could not be asked, and hooks.on_error is closed" };
    return {};
  }
}

export default function (pi: any) {
  let told: string | undefined;
  pi.on("session_start", async () => {
    told = ask("session_start", {}).context;
  });
  pi.on("tool_call", async (ev: any) => {
    const answer = ask("pre_tool", { tool_name: ev.toolName, tool_input: ev.input, tool_use_id: ev.toolCallId });
    if (answer.decision === "deny") return { block: true, reason: answer.reason };
  });
  pi.on("tool_result", async (ev: any) => {
    const answer = ask("post_tool", { tool_name: ev.toolName, tool_input: ev.input, tool_use_id: ev.toolCallId });
    const text = [told, answer.context].filter(Boolean).join("\n\n");
    told = undefined;
    if (text) return { content: [...(ev.content || []), { type: "text", text }] };
  });
  pi.on("agent_end", async () => {
    ask("stop", {});
  });
}
