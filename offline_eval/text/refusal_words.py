"""The words by which answers decline, sorted into classes that mean the same in English and Chinese.

Why classes and no phrases: "the guide never touches on …" and "手册未涉及…" are one pattern (document, not, say), so
a new wording is a word in its class here, never a new rule. A trailing * stands for any ending, _ for a space; of
words that overlap the longest counts. After a change run `scripts/train_refusal.py`.
"""

WORDS: dict[str, str] = {
    # Who speaks, to whom, of whom.
    "self": """
        i me my myself our ours us we 咱 咱们 小助手 小编 恕 我 我们 我方 我这 我这边 我这里 本人 本助手 笔者
    """,
    "you": "you your 亲 你 你们 您",
    "third": """
        company defendant* doctor* employee* he her him his minister* nobody police* she someone staff their them
        witness* 两人 他 他们 公司 医生 双方 员工 她 她们 委员会 学生 它 它们 客户 当事人 律师 无人 没人 没有人 法官
        法院 用户 申请人 经理 警方 记者 银行
    """,
    "assistant": "ai assistant bot chatbot language_model virtual 人工智能 助手 大模型 机器人 语言模型",
    "pronoun": "it they",
    # The material at hand, what it could hold, and what was asked.
    "document": """
        rules regulations provisions rulebook lease leases timetable programme prospectus factsheet faqs encyclopedia
        规则 章程 办法 条例 时刻表 节目单 手稿 附录 正本 原件 图册
        agreement* appendix archive article* author authors biography book books brochure* bundle catalog* chapter*
        chunk* clause clauses context* contract* corpus database* datasheet* document* documentation email emails
        entries entry excerpt* extract extracts faq file files guide guideline* guides handbook* help_center
        help_centre hits index knowledge_base leaflet* letter letters library manual* material materials memo*
        minutes notes page pages paper papers paragraph* passage* policies policy press_release* records report
        reported reporting reports result results section sections site slides snippet* source sources
        specification* story studies study summary syllabus table tables terms text texts training_data transcript*
        website* wiki* wording 上下文 书中 书里 传记 作者 信件 信里 全文 公告 其中 几段 制度 剧本 协议 原文 原著
        参考 史书 史料 合同 图 地图 守则 官网 宣传册 宣传单 小说 帮助中心 库中 库里 影片 手册 报告 报道 指南
        搜索结果 摘录 政策 政策文件 教材 数据库 文中 文件 文字 文本 文档 文献 文章 新闻稿 本文 材料 条款 条目 来源
        查询结果 档案 检索 检索结果 正文 段文字 段落 段话 片段 电影 白皮书 目录 知识库 租约 章节 简介 篇章 系统
        系统内 纪要 结果 网页 背景 节选 表 表格 规章 记录 记录中 记录里 论文 语料 说明书 课本 资料 这几段 这段 通知
        邮件 里面 问答库 附件 页面 题干 题目
    """,
    "given": """
        above accessible attached available existing given provided retrieved shared supplied uploaded 上述 以上
        可用 已有 所掌握 所给 手头 手边 掌握 提供的 检索到 现有 目前 给出的 给定
    """,
    "topic": """
        about concerning issue matter on pertaining point query question questions regarding related relating
        relevant request subject that these this those topic which 主题 关于 内容 对应 对此 提问 方面 有关 此 此事
        此问题 相关 话题 该 该信息 该问题 这 这一点 这个 这事 这事儿 这些 这方面 这条 这点 这道题 这题 那个 问题
    """,
    "info": """
        anything article_covering background basis content coverage data detail details evidence
        explanation* fact facts figure figures indication* info information insight* knowledge match matches
        mention_of mentions reference references something specifics statement* trace 依据 信息 具体 匹配 命中 字眼
        情况 描述 数据 权限 消息 线索 细节 结论 蛛丝马迹 解释 证据 说法 资格
    """,
    "enough": "additional adequate enough further more sufficient 充分 充足 更多 足够 进一步",
    "wh": """
        how what when when_exactly where whether who whom whose why 为什么 为何 什么 何时 几 哪 多少 如何 怎么 是否
        谁
    """,
    # Negation, and words that have it inside.
    "not": """
        barely cannot cant didnt doesnt dont hardly isnt never nope not wont 不 不曾 从未 从没 均不 均未 尚无 尚未
        并不 并无 并未 并没 并没有 暂无 暂未 暂没 未 未必 未曾 未能 未见 毫无 没 没有 没能 还没 还没有 都不
    """,
    "none": """
        neither no no_one none nor not_a_single not_any not_one nothing nowhere without zero 一无所 任何 查无
        没哪 没有一 没有任何 没有哪 零
    """,
    "lack": """
        absent empty fail failed fails inadequate incomplete insufficient lack lacking lacks leave leaves leaves_out
        left_out limited missing mute omit omits omitted scarce short_of silent too_little too_short too_vague
        unaddressed 不全 不够 无 不足 为空 只字不提 只字未提 含糊 太少 有限 欠缺 残缺 略去 略过 省略 空白 缺乏 缺失
        缺少 语焉不详 跳过 过少
    """,
    "unknown": """
        indeterminate n/a na unanswerable unanswered unavailable unclear unconfirmed undefined undeterminable
        undetermined undisclosed undocumented unexplained unidentified unknown unmentioned unrecorded unreported
        unresolved unspecified unstated 不明 不知 不详 无法判断 无记载 未知
    """,
    "cannot": """
        abstain can_not can_not_be could_not decline impossible incapable no_way not_able not_allowed not_authorised
        not_authorized not_in_a_position not_permitted not_possible not_qualified prefer_not rather_not refrain
        refuse struggle* unable won't 不予 不便 不具备 不可能 不宜 不敢 不方便 不能 不该 做不到 办不到 恕不 恕难
        拒绝 无力 无可奉告 无权 无法 没办法 没法 没资格 爱莫能助 难以
    """,
    "not_know": """
        not_certain not_sure uncertain unsure 不了解 不太了解 不太清楚 不好说 不得而知 不懂 不掌握 不敢确定 不晓得
        不清楚 不熟 不熟悉 不甚了解 不知道 不确定 判断不了 判断不出 吃不准 回答不了 帮不上 帮不了 弃权 得不出 找不到
        找不着 拿不准 推不出 推断不出 搜不到 搜索不到 无从 无从判断 无从得知 无从知晓 未发现 未命中 未找到 未查到
        未查询到 未检索到 未知数 未能找到 未见到 查不出 查不到 查询不到 检索不到 没印象 没发现 没听说 没头绪 没找到
        没找着 没掌握 没搜到 没搜着 没数 没有发现 没有找到 没有掌握 没有搜到 没有查到 没有检索到 没有看到 没有见到
        没查到 没查着 没查询到 没检索到 没法说 没看到 没翻到 没能找到 没见到 没谱 看不出 看不到 确定不了 答不上来
        答不了 答不出 答不出来 翻不到 讲不清 说不上来 说不准 说不出 说不好 说不清 避而不谈
    """,
    "idiom": """
        no_idea any_idea no_clue a_clue no_luck the_dark a_mystery mislead_you stops_before stop_before stops_at stop_at
        keeps_quiet keep_quiet drawing_a_blank draw_a_blank leave_this_blank leaving_this_blank 超出了我的能力
        anyone's_guess at_a_loss baffl* beats_me breaks_off can't_help clueless dunno elude*
        end_before ends_before fabricat* guess guessing guesswork hunch in_the_dark make_something_up
        making_things_up no_comment pass_on speculat* stab stumped 一头雾水 不可用
        不相关 不相干 两眼一抹黑 乱猜 乱说 人工客服 凭空 妄下 妄加 妄断 抓瞎 无关 没关系 没有关系 没辙 盲区
        瞎猜 瞎编 瞎说 空着 编造 臆断 臆测 触及不到 误导 超纲 转人工 转接人工
    """,
    "scope": """
        area beyond confidential confined cut-off cutoff expertise irrelevant just limited_to merely
        off-topic only outside purview remit restricted scope solely stops unrelated 不在 不属于
        业务范围 为止 主要 之外 仅 仅仅 仅能 仅限 保密 到头 到此 只 只是 只能 商业机密 截止 截至 敏感 机密 权限外
          范围 超出 超过 限于 隐私
    """,
    # What a speaker does with knowledge, and material with facts.
    "know": """
        ascertain aware certain come_across conclude concluded confirm confirmed deduce derive determine determined
        establish established figure_out find found identified identify infer inferred judge know locate located
        look_up make_out pin_down pinpoint pull_up recall say_for_sure see spot sure trace_back turn_up turned_up
        understand verified verify work_out 下结论 了解 判定 判断 发现 得出 得到 得知 找到 推出 推导 推断 推测 搜
        搜到 断定 明白 查到 核实 清楚 猜 猜测 看出 看到 知晓 知道 确定 确认 获取 获知 见到 辨认
    """,
    "answer": "answer* solution* 作答 回复 回应 回答 奉告 答 答复 答案 置评 解答",
    "help": """
        advise assist comment comply diagnose discuss fulfil* help offer recommend* reply resolve respond satisf*
        share speak support tell 办理 协助 受理 告知 告诉 处理 完成 帮 帮助 提供建议 支持 满足 给你 给您 解决 评论
    """,
    "say": """
        address addressed addresses appear appears clarif* concern* contain contained containing contains cover
        covered covering covers deal deals describe described describes detail_ed disclose* discussed discusses
        document_ed documented elaborate* explain explained explains feature features give gives giving go_into
        go_unmentioned goes goes_into hint* include included includes indicate indicated indicates list listed lists
        make_clear make_reference makes_mention makes_reference mention mentioned mentioning name named names note
        noted offers present provide provides published quote* quoted record recorded refer referred refers regulat*
        report_on reveal* said say says shed sheds show shows speaks specified specifies specify spell* state stated
        states suggest* supplies supply talk talks talks_about tells touch touch_on touches 交代 介绍 体现 体现出
        作出 作规定 做出 公布 写 写到 写明 出现 列 列出 列明 包含 包括 展开 录入 报价 披露 指出 描写 描绘 提 提供
        提供过 提到 提及 提起 提过 揭示 收录 明确 明说 显示 标 标价 标出 标明 注明 涉及 涉猎 涵盖 点明 给 给出 给过
        表明 表示 表述 覆盖 规定 触及 言明 讨论 记录过 记载 讲 讲到 论及 说 说到 说明 说清 说起 谈 谈到 谈及 载明
        透露 透露过 阐述 附 附上
    """,
    "looked": """
        after_reading browsed checked combed everywhere examined going_through looked looking read reading reviewed
        scanned searched searching went_through 找了 找遍 搜了 搜索了 查了 查遍 查阅 检查了 检索了 浏览 看了 看完
        翻了 翻遍 翻阅 读了 读完 通读
    """,
    "able": """
        able able_to allowed authorised authorized can capable could have_to need permitted possible qualified
        require required requires way would would_need 可以 得以 才能 能 能够 足以 需 需要
    """,
    # Manners around a refusal.
    "sorry": """
        afraid alas apolog* i_wish regret* sadly sorry unfortunately wish_i 不好意思 可惜 对不起 很遗憾 恐怕 抱歉
        歉意 见谅 谅解 遗憾
    """,
    "redirect": """
        ask asking better_off check_with clarify colleague* consult contact feel_free follow_up get_back let_me_know
        more_context more_details more_information please reach_out refer_to rephrase speak_to support_team try
        visit 不妨 人工 再问 另行 咨询 建议 换个 核实后 核对 烦请 稍后 联系 能否 致电 补充 询问 请 请问 转接 麻烦
    """,
    # What an answer that says something has.
    "contrast": """
        although but however instead nevertheless rather still though whereas while yet 不过 但 但是 却 只是说 可是
        尽管 然而 而 而是 虽然
    """,
    "because": "because hence since so therefore thus 因为 因此 因而 所以 故 由于",
    "rule": """
        except if may must required_to shall should unless whenever 一律 不享受 不允许 不准 不可 不可以 不得 不必
        不用 不适用 不需要 如果 应 应当 必须 方可 无需 禁止 若 须
    """,
    "yes": "certainly definitely yes 可以的 对的 是的 正确",
    # Small words.
    "be": "am are be been being is was were 为 是",
    "have": "got had has have hold possess 具有 拥有 有",
    "do": "did do does",
    "will": "will 会 将",
    "there": "here seem seems there 这儿 这里 那里",
    "from": """
        according based by from given_that in judging using with within 上 中 仅凭 从 光凭 光看 内 凭 单凭 在 基于
        就 按照 根据 里 靠
    """,
    "even": """
        any at_all completely directly entirely even exact exactly explicitly really simply specific specifically
        whatsoever 丝毫 准确 压根 完全 实在 根本 直接 真 确切
    """,
    # Words that only look as if one of the above were inside.
    "other": """
        不久 不仅 不但 不同 不少 不断 不管 不过分 不锈钢 他人 使用者 其他 其它 内容丰富 受害者 吉他 图书馆 学者
        无人机 无线 无论 时间 未婚 未成年人 未来 没收 消费者 目的 看法 者 非常 非法
    """,
}

DECLINING = frozenset({"not", "none", "lack", "unknown", "cannot", "not_know", "idiom", "scope", "redirect"})
"""Without a word of one of these classes nothing is a refusal."""
