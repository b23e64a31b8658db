-- Opens the file, waits for diagnostics, applies a quick fix, saves, and says what it saw in a JSON file.
local file, report = vim.env.GRAPHWARD_FILE, vim.env.GRAPHWARD_REPORT
local seen = {}

local function leave(problem)
  seen.problem = problem
  vim.fn.writefile({ vim.fn.json_encode(seen) }, report)
  vim.cmd(problem and "cquit!" or "qall!")
end

local function codes()
  return vim.tbl_map(function(d) return d.code or "none" end, vim.diagnostic.get(0))
end

local function await(what, holds)
  if not vim.wait(60000, holds, 20) then
    leave("waited in vain for " .. what)
  end
end

local ok, problem = pcall(function()
  vim.cmd("edit " .. vim.fn.fnameescape(file))
  local id = vim.lsp.start_client({
    name = "graphward",
    cmd = vim.fn.json_decode(vim.env.GRAPHWARD_COMMAND),
    root_dir = vim.fn.fnamemodify(file, ":h"),
  })
  vim.lsp.buf_attach_client(0, id)
  await("diagnostics", function() return #codes() > 0 end)
  seen.codes = codes()
  seen.source = vim.diagnostic.get(0)[1].source
  local at = vim.diagnostic.get(0)[1]
  vim.api.nvim_win_set_cursor(0, { at.lnum + 1, at.col })
  vim.ui.select = function(items, options, choose)
    seen.titles = vim.tbl_map(options.format_item, items)
    for i, title in ipairs(seen.titles) do
      if title:find("Use swapaxes", 1, true) == 1 then
        return choose(items[i], i)
      end
    end
    leave("no such fix")
  end
  vim.lsp.buf.code_action()
  await("the fix", function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n"):find("swapaxes", 1, true) ~= nil
  end)
  await("the file to be clean", function() return #codes() == 0 end)
  vim.cmd("write")
  vim.lsp.stop_client(id)
end)
leave(not ok and tostring(problem) or nil)
